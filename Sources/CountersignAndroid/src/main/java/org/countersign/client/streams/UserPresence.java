package org.countersign.client.streams;

import java.time.Instant;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;

/** Whether a user is online. A user whom this user may not see looks like one who was never online. */
public final class UserPresence {
    private final UUID user;
    private final boolean isOnline;
    private final @Nullable Instant lastSeen;

    UserPresence(Json json) throws CountersignException {
        user = json.id("user_id");
        isOnline = json.flag("online");
        lastSeen = json.optionalDate("last_seen");
    }

    public UUID user() {
        return user;
    }

    /** Whether a device of the user waits for messages. */
    public boolean isOnline() {
        return isOnline;
    }

    /** When the user was last online, to the minute; null while the user is online, and if it is not known. */
    public @Nullable Instant lastSeen() {
        return lastSeen;
    }
}
