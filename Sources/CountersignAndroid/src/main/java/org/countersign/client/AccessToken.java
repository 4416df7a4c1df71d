package org.countersign.client;

import java.time.Clock;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.countersign.client.internal.wire.DeviceToken;

/** A short-lived token of the session for the app's own backend (RFC 9068), bound to the device's key (RFC 9449). */
public final class AccessToken {
    private final String value;
    private final Instant expiresAt;
    private final DeviceToken signer;
    private final Clock clock;

    /** Tokens come from {@link Countersign#accessToken}. */
    public AccessToken(String value, Instant expiresAt, DeviceToken signer, Clock clock) {
        this.value = value;
        this.expiresAt = expiresAt;
        this.signer = signer;
        this.clock = clock;
    }

    public String value() {
        return value;
    }

    /** Its expiry, by the service's clock: after one to five minutes. */
    public Instant expiresAt() {
        return expiresAt;
    }

    /**
     * The proof for one request to the backend, for the header {@code DPoP}. Each request needs its own.
     *
     * @param url its query is ignored
     */
    public String proof(String method, String url) throws CountersignException {
        return signer.proof(method, url.split("[?#]", 2)[0], value, clock.instant());
    }

    /** The header fields {@code Authorization} and {@code DPoP} of one request to the backend. */
    public Map<String, String> headers(String method, String url) throws CountersignException {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Authorization", "DPoP " + value);
        headers.put("DPoP", proof(method, url));
        return headers;
    }
}
