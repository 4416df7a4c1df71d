package org.countersign.client.proof;

import java.util.concurrent.CompletableFuture;

/** Calls the user's wallet: the Credential Manager on Android. */
public interface Wallet {
    /**
     * Hands requests to the wallet. It is called on the thread of the call, which waits for the future.
     *
     * @param requests the JSON for {@code GetDigitalCredentialOption}: {@code {"requests":[…]}}, one for each protocol
     * @return the {@code credentialJson} of the {@code DigitalCredential}: {@code {"protocol":…,"data":{…}}}. If the
     *     user declines, complete it with an exception.
     */
    CompletableFuture<String> present(String requests);
}
