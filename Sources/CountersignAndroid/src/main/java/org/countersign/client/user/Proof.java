package org.countersign.client.user;

import java.util.Collections;
import java.util.Map;

/**
 * The proof that a service may require before it certifies a device. {@code certification_gate} in discovery names it.
 */
public final class Proof {
    private static final Proof NONE = new Proof(Collections.emptyMap());
    private final Map<String, String> members;

    private Proof(Map<String, String> members) {
        this.members = members;
    }

    /** No proof, for a service that requires none. */
    public static Proof none() {
        return NONE;
    }

    /** A token from the provider's backend. */
    public static Proof enrolmentToken(String token) {
        return new Proof(Collections.singletonMap("enrolment_token", token));
    }

    /** The response of a solved captcha. */
    public static Proof captcha(String response) {
        return new Proof(Collections.singletonMap("captcha", response));
    }

    /** What the proof adds to the request for a certificate. */
    public Map<String, String> members() {
        return members;
    }
}
