package org.countersign.client.user;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import javax.annotation.Nullable;

/** A push about a call, as the app receives it in the data of a message. */
public final class CallPush {
    private final UUID stream;
    private final @Nullable Instant until;
    private final @Nullable String initials;
    private final @Nullable String reason;

    private CallPush(UUID stream, @Nullable Instant until, @Nullable String initials, @Nullable String reason) {
        this.stream = stream;
        this.until = until;
        this.initials = initials;
        this.reason = reason;
    }

    /**
     * Reads the data of a push; null for a push about anything else, and for a notification of the provider, whatever
     * its data say.
     */
    public static @Nullable CallPush of(Map<String, String> data) {
        String stream = data.get("stream_id");
        String type = data.get("type");
        if (data.containsKey("notification_id") || stream == null || type == null) return null;
        try {
            if (type.equals("CALL") && data.get("expires_at") != null) {
                Instant until = Instant.parse(data.get("expires_at"));
                return new CallPush(UUID.fromString(stream), until, data.get("initials"), null);
            }
            if (type.equals("CALL_END") && data.get("reason") != null) {
                return new CallPush(UUID.fromString(stream), null, null, data.get("reason"));
            }
        } catch (DateTimeException | IllegalArgumentException malformed) {
            return null;
        }
        return null;
    }

    /** The stream with the offer of the call. */
    public UUID stream() {
        return stream;
    }

    /** Whether it is an incoming call. Otherwise the call rings no longer. */
    public boolean isIncoming() {
        return until != null;
    }

    /** When to stop ringing; null if the call rings no longer. */
    public @Nullable Instant until() {
        return until;
    }

    /** The initials of the caller; null if the service does not send them. */
    public @Nullable String initials() {
        return initials;
    }

    /**
     * Why the call rings no longer: {@code answered} or {@code declined} on another device, {@code given_up} by the
     * caller, or {@code missed}. Null for an incoming call.
     */
    public @Nullable String reason() {
        return reason;
    }
}
