package org.countersign.client.proof;

import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.Client;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.user.Assurance;

/** A number that waits for its code. */
public final class PhoneVerification {
    private final Client client;
    private final UUID id;
    private final Instant expiresAt;
    private final @Nullable Instant resendAfter;
    private final int digits;

    PhoneVerification(Client client, Json json) throws CountersignException {
        this.client = client;
        id = json.id("id");
        expiresAt = json.date("expires_at");
        resendAfter = json.optionalDate("resend_after");
        digits = (int) json.number("digits");
    }

    public UUID id() {
        return id;
    }

    public Instant expiresAt() {
        return expiresAt;
    }

    /** When the code may be sent again; null if it may not. */
    public @Nullable Instant resendAfter() {
        return resendAfter;
    }

    /** The number of digits of the code. */
    public int digits() {
        return digits;
    }

    /**
     * Checks the code. A code is accepted once, so the call is not repeated if the response is lost. Read the profile
     * after {@link CountersignException.Kind#UNANSWERED}.
     *
     * @return the user's level, {@code phone} or higher
     * @throws CountersignException {@code verification_failed} for a wrong, expired or used code, {@code user_banned}
     *     for a banned number
     */
    public Assurance check(String code) throws CountersignException {
        String path = "/phone-verifications/" + id + "/check";
        Json json = client.perform(HttpCall.json("POST", path, HttpCall.members("code", code)));
        return Assurance.of(json.text("assurance"));
    }

    public CompletableFuture<Assurance> checkAsync(String code) {
        return client.async(() -> check(code));
    }

    /** Sends the code again, and returns the changed verification. */
    public PhoneVerification resend() throws CountersignException {
        String path = "/phone-verifications/" + id + "/resend";
        return new PhoneVerification(client, client.perform(HttpCall.of("POST", path)));
    }

    public CompletableFuture<PhoneVerification> resendAsync() {
        return client.async(this::resend);
    }
}
