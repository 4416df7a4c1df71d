package org.countersign.client.streams;

import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;

/** A notification of the user's provider, for each of the user's devices. */
public final class ProviderNotification {
    private final UUID id;
    private final @Nullable String title;
    private final @Nullable String body;
    private final Map<String, String> data;
    private final Instant sentAt;

    ProviderNotification(Json json) throws CountersignException {
        id = json.id("id");
        title = json.optionalText("title");
        body = json.optionalText("body");
        data = json.texts("data");
        sentAt = json.date("sent_at");
    }

    /** The provider's id. A push contains it as {@code notification_id}. */
    public UUID id() {
        return id;
    }

    public @Nullable String title() {
        return title;
    }

    public @Nullable String body() {
        return body;
    }

    /** Texts for the app, by name. */
    public Map<String, String> data() {
        return data;
    }

    public Instant sentAt() {
        return sentAt;
    }
}
