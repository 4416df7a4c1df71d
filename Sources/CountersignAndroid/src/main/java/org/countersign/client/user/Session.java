package org.countersign.client.user;

import java.time.Instant;
import java.util.UUID;

/** A user's session on this device. */
public final class Session {
    private final UUID id;
    private final UUID userId;
    private final String address;
    private final Instant expiresAt;
    private final Assurance assurance;

    public Session(UUID id, UUID userId, String address, Instant expiresAt, Assurance assurance) {
        this.id = id;
        this.userId = userId;
        this.address = address;
        this.expiresAt = expiresAt;
        this.assurance = assurance;
    }

    public UUID id() {
        return id;
    }

    public UUID userId() {
        return userId;
    }

    /** {@code <provider slug>/<external id>}, by which other users may name the user. */
    public String address() {
        return address;
    }

    /** The expiry, unless the session is renewed. */
    public Instant expiresAt() {
        return expiresAt;
    }

    public Assurance assurance() {
        return assurance;
    }

    @Override
    public String toString() {
        return "session " + id + " of " + address;
    }
}
