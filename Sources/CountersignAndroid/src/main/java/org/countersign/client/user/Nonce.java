package org.countersign.client.user;

import java.time.Instant;

/** A random text of the service that an identity token must carry. */
public final class Nonce {
    private final String value;
    private final Instant expiresAt;

    public Nonce(String value, Instant expiresAt) {
        this.value = value;
        this.expiresAt = expiresAt;
    }

    public String value() {
        return value;
    }

    public Instant expiresAt() {
        return expiresAt;
    }
}
