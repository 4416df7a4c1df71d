package org.countersign.client;

import org.countersign.client.user.Nonce;

/** Fetches an identity token from the user's provider, which is the app's backend. */
public interface IdentityTokenSource {
    /**
     * Returns a token for a nonce. It is called on a thread of the client, and makes no calls of the client itself.
     *
     * @throws Exception if there is no token. The call that needs it fails with this as cause.
     */
    String identityToken(Nonce nonce) throws Exception;
}
