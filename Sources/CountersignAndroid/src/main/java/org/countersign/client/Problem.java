package org.countersign.client;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.annotation.Nullable;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.proof.CardResult;
import org.countersign.client.user.Assurance;
import org.countersign.client.user.Nonce;

/** A refusal of the service (RFC 9457). A later version of the service may have other codes. */
public final class Problem {
    public static final String MALFORMED_REQUEST = "malformed_request";
    public static final String PAYLOAD_TOO_LARGE = "payload_too_large";
    public static final String UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type";
    public static final String SESSION_REQUIRED = "session_required";
    public static final String SESSION_EXPIRED = "session_expired";
    public static final String SESSION_CHALLENGED = "session_challenged";
    public static final String SESSION_DESTROYED = "session_destroyed";
    public static final String SESSION_NOT_ATTACHED = "session_not_attached";
    public static final String BINDING_MISMATCH = "binding_mismatch";
    public static final String CERTIFICATE_REVOKED = "certificate_revoked";
    public static final String USER_BANNED = "user_banned";
    public static final String NOT_VERIFIED = "not_verified";
    public static final String NOT_FOUND = "not_found";
    public static final String CONFLICT = "conflict";
    public static final String GONE = "gone";
    public static final String INVALID_CSR = "invalid_csr";
    public static final String INVALID_IDENTITY_TOKEN = "invalid_identity_token";
    public static final String INVALID_DPOP_PROOF = "invalid_dpop_proof";
    public static final String INVALID_PRESENCE_PROOF = "invalid_presence_proof";
    public static final String VERIFICATION_FAILED = "verification_failed";
    public static final String CARD_REJECTED = "card_rejected";
    public static final String PRESENTATION_REJECTED = "presentation_rejected";
    public static final String RATE_LIMITED = "rate_limited";
    public static final String UNAVAILABLE = "unavailable";

    private static final Set<String> ASKING_FOR_IDENTITY = new HashSet<>(Arrays.asList(
        SESSION_CHALLENGED, SESSION_EXPIRED, SESSION_DESTROYED, SESSION_REQUIRED, BINDING_MISMATCH));
    private static final Set<String> ASKING_FOR_PRESENCE = new HashSet<>(Arrays.asList(
        "nonce_used", "nonce_expired", "nonce_unknown", "nonce_other_device", "expired"));

    private final int status;
    private final String code;
    private final String detail;
    private final @Nullable String reason;
    private final @Nullable String state;
    private final @Nullable Assurance requiredLevel;
    private final @Nullable Instant until;
    private final @Nullable String exportToken;
    private final @Nullable List<CardResult.Check> checks;
    private final @Nullable String requestId;
    private final @Nullable Duration retryAfter;
    private final @Nullable Nonce nonce;

    /** Reads a response. */
    public Problem(Json json, @Nullable String retryAfter) throws CountersignException {
        status = (int) json.number("status");
        code = json.text("code");
        String text = json.optionalText("detail");
        detail = text == null ? "" : text;
        reason = json.optionalText("reason");
        state = json.optionalText("state");
        String level = json.optionalText("required_level");
        requiredLevel = level == null ? null : Assurance.of(level);
        until = json.optionalDate("until");
        exportToken = json.optionalText("export_token");
        checks = json.has("checks") ? json.list("checks", CardResult.Check::new) : null;
        requestId = json.optionalText("request_id");
        this.retryAfter = seconds(retryAfter);
        String value = json.optionalText("nonce");
        Instant end = json.optionalDate("nonce_expires_at");
        nonce = value == null || end == null ? null : new Nonce(value, end);
    }

    private Problem(int status, String code, String detail) {
        this.status = status;
        this.code = code;
        this.detail = detail;
        reason = null;
        state = null;
        requiredLevel = null;
        until = null;
        exportToken = null;
        checks = null;
        requestId = null;
        retryAfter = null;
        nonce = null;
    }

    private static @Nullable Duration seconds(@Nullable String text) {
        boolean isNumber = text != null && text.matches("[0-9]{1,9}");
        return isNumber ? Duration.ofSeconds(Long.parseLong(text)) : null;
    }

    /** The earlier refusal of the current session, so that the service is not asked again. */
    public static Problem challenged() {
        return new Problem(401, SESSION_CHALLENGED, "The session was challenged: sign in again.");
    }

    public int status() {
        return status;
    }

    /** One of the constants of this class, or a later one. */
    public String code() {
        return code;
    }

    /** One sentence that a developer can act on. */
    public String detail() {
        return detail;
    }

    /** The reason within the code, such as {@code nonce_used}. Treat an unknown one like its code. */
    public @Nullable String reason() {
        return reason;
    }

    /** For {@link #CONFLICT}, the state that does not allow the call. */
    public @Nullable String state() {
        return state;
    }

    /** For {@link #NOT_VERIFIED}, the level that the call requires. */
    public @Nullable Assurance requiredLevel() {
        return requiredLevel;
    }

    /** The end of a ban; null if it is permanent. */
    public @Nullable Instant until() {
        return until;
    }

    /** Permits export and erasure of a banned user's data for ten minutes. */
    public @Nullable String exportToken() {
        return exportToken;
    }

    /** The checks of a refused card; null for another refusal. */
    public @Nullable List<CardResult.Check> checks() {
        return checks;
    }

    /** The id of the request in the operator's log. */
    public @Nullable String requestId() {
        return requestId;
    }

    /** When to try again: the header {@code Retry-After}. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    /** The nonce for the next identity token or proof of presence. */
    public @Nullable Nonce nonce() {
        return nonce;
    }

    /** Whether nothing was changed, and a retry a moment later will probably succeed. */
    public boolean isPassing() {
        return code.equals(UNAVAILABLE) && !"outcome_unknown".equals(reason);
    }

    /** Whether the session must be renewed or opened again before the call. */
    public boolean asksForIdentity() {
        return ASKING_FOR_IDENTITY.contains(code);
    }

    /** Whether another presence proof will probably be accepted, because the nonce of this one is no longer valid. */
    public boolean asksForPresence() {
        return code.equals(INVALID_PRESENCE_PROOF) && reason != null && ASKING_FOR_PRESENCE.contains(reason);
    }

    /** The code, reason and detail. */
    @Override
    public String toString() {
        String word = reason == null ? state : reason;
        return code + (word == null ? "" : " (" + word + ")") + ": " + detail;
    }
}
