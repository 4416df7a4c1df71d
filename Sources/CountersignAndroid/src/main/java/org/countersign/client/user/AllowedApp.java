package org.countersign.client.user;

import java.time.Instant;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;

/** An app that may read the user's data, or that the user forbids: {@code GET /me/apps}. */
public final class AllowedApp {
    private final UUID id;
    private final String name;
    private final long sessions;
    private final @Nullable Instant lastUsedAt;
    private final @Nullable Instant forbiddenAt;
    private final boolean isCurrent;

    AllowedApp(Json json) throws CountersignException {
        id = json.id("app_id");
        name = json.text("name");
        sessions = json.number("sessions");
        lastUsedAt = json.optionalDate("last_used_at");
        forbiddenAt = json.optionalDate("forbidden_at");
        isCurrent = json.flag("current");
    }

    public UUID id() {
        return id;
    }

    public String name() {
        return name;
    }

    /** The number of the app's sessions of the user. */
    public long sessions() {
        return sessions;
    }

    public @Nullable Instant lastUsedAt() {
        return lastUsedAt;
    }

    /** When the user forbade the app; null if it is allowed. */
    public @Nullable Instant forbiddenAt() {
        return forbiddenAt;
    }

    /** Whether it is this app. */
    public boolean isCurrent() {
        return isCurrent;
    }
}
