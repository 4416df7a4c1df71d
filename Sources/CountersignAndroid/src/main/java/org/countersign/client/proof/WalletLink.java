package org.countersign.client.proof;

import java.net.URI;
import java.util.concurrent.CompletableFuture;

/** Opens a wallet on this device by its link, and waits until the wallet returns to the app by another. */
public interface WalletLink {
    /**
     * Opens the link: with an {@code Intent} on Android. It is called on the thread of the call, which waits for the
     * future.
     *
     * @return the link by which the wallet opened the app again: the {@code Intent}'s data. If the user declines,
     *     complete it with an exception.
     */
    CompletableFuture<URI> open(URI link);
}
