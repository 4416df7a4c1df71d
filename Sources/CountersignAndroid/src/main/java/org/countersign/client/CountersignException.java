package org.countersign.client;

import java.io.IOException;
import java.time.Duration;
import javax.annotation.Nullable;
import org.countersign.client.store.StorageFailure;

/** The failure of a call. Its message is one sentence for a developer, without a secret. */
public final class CountersignException extends IOException {
    private static final long serialVersionUID = 1;

    /** What failed. A later version may have others. */
    public enum Kind {
        /** The service refused: see {@link #code()} and {@link #reason()}. */
        REFUSED,
        /** The service refused because the user, the number or the device is banned: see {@link #problem()}. */
        BANNED,
        /** The device has no valid certificate: call {@link Countersign#certify}. */
        UNCERTIFIED,
        /** There is no session: call {@link Countersign#signIn}. */
        SIGNED_OUT,
        /** No connection was established. Nothing was sent, so the call may be repeated. */
        UNREACHABLE,
        /** The request was sent without a response, so it may have been carried out. */
        UNANSWERED,
        /** The server's key is not pinned. It got no request, and the call is not repeated. */
        PIN_MISMATCH,
        /** The server has a certificate of another authority, or for another name. */
        UNTRUSTED,
        /** The response is too long or malformed. */
        UNREADABLE,
        /** This device's clock is wrong: see {@link #clockOffset()}. */
        CLOCK_WRONG,
        /** The provider returned no identity token: the cause is the error of the app's source. */
        PROVIDER,
        /** The wallet presented nothing: the cause is the error of the app's call, or of its user. */
        WALLET,
        /**
         * The platform did not attest the key: the last cause is the error of the app's attestor. Some devices never
         * attest.
         */
        UNATTESTED,
        /** The provider's clock is wrong: see {@link #clockOffset()}. */
        PROVIDER_CLOCK_WRONG,
        /** The identity token was for another user than the session's. The session has ended. */
        ANOTHER_USER,
        /** The key or the secret could not be stored: see {@link #storageFailure()}. */
        STORAGE,
        /** The thread was interrupted while it waited. A request that was sent may have been carried out. */
        INTERRUPTED
    }

    private final Kind kind;
    private final @Nullable transient Problem problem;
    private final @Nullable StorageFailure storageFailure;
    private final @Nullable Duration clockOffset;

    public CountersignException(Kind kind, String message, @Nullable Throwable cause) {
        this(kind, message, cause, null, null, null);
    }

    private CountersignException(
            Kind kind, String message, @Nullable Throwable cause, @Nullable Problem problem,
            @Nullable StorageFailure storageFailure, @Nullable Duration clockOffset) {
        super(message, cause);
        this.kind = kind;
        this.problem = problem;
        this.storageFailure = storageFailure;
        this.clockOffset = clockOffset;
    }

    /** A refusal of the service. */
    public static CountersignException refused(Problem problem) {
        Kind kind = problem.code().equals(Problem.USER_BANNED) ? Kind.BANNED : Kind.REFUSED;
        return new CountersignException(kind, problem.toString(), null, problem, null, null);
    }

    /**
     * An error of {@link org.countersign.client.store.DeviceKeys} or {@link org.countersign.client.store.SecretStore}.
     */
    public static CountersignException storage(StorageFailure failure, @Nullable Throwable cause) {
        return new CountersignException(Kind.STORAGE, failure.sentence(), cause, null, failure, null);
    }

    /** A wrong clock. */
    public static CountersignException clock(Kind kind, Duration offset) {
        String owner = kind == Kind.CLOCK_WRONG ? "this device" : "the provider";
        String words = Math.abs(offset.getSeconds()) + (offset.isNegative() ? " s slow" : " s fast");
        return new CountersignException(
            kind, "The clock of " + owner + " is " + words + ": set it.", null, null, null, offset);
    }

    /** Keeps the thread's interrupt. */
    public static CountersignException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new CountersignException(Kind.INTERRUPTED, "The thread was interrupted.", cause);
    }

    /** This failure for another waiting thread, with a stack of its own. */
    public CountersignException again(String before) {
        String message = before + getMessage();
        return new CountersignException(kind, message, this, problem, storageFailure, clockOffset);
    }

    public Kind kind() {
        return kind;
    }

    /** The service's refusal; null for another failure. */
    public @Nullable Problem problem() {
        return problem;
    }

    /** The code of the service's refusal, such as {@link Problem#RATE_LIMITED}; null for another failure. */
    public @Nullable String code() {
        return problem == null ? null : problem.code();
    }

    /** The reason within the code, such as {@code nonce_used}. Treat an unknown one like its code. */
    public @Nullable String reason() {
        return problem == null ? null : problem.reason();
    }

    /** When to try again; null if the service did not say it. */
    public @Nullable Duration retryAfter() {
        return problem == null ? null : problem.retryAfter();
    }

    /** The id of the request in the operator's log. */
    public @Nullable String requestId() {
        return problem == null ? null : problem.requestId();
    }

    /** Why the key or the secret was not stored; null for another failure. */
    public @Nullable StorageFailure storageFailure() {
        return storageFailure;
    }

    /** By how much a clock is wrong: positive if it is fast, negative if it is slow. Null for another failure. */
    public @Nullable Duration clockOffset() {
        return clockOffset;
    }

    /** Whether the service may have carried the call out. Check that before you repeat it. */
    public boolean mayHaveBeenCarriedOut() {
        return kind == Kind.UNANSWERED || kind == Kind.UNREADABLE || kind == Kind.INTERRUPTED;
    }
}
