package org.countersign.client.streams;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;

/** A message of a stream, with the number that the service assigned. */
public final class Message {
    private final long sequence;
    private final UUID id;
    private final @Nullable UUID sender;
    private final Instant sentAt;
    private final @Nullable UUID inReplyTo;
    private final @Nullable UUID thread;
    private final boolean isDeleted;
    private final boolean isExpired;
    private final @Nullable List<MessagePart> parts;
    private final @Nullable Object metadata;
    private final @Nullable Object privateMetadata;

    Message(Json json) throws CountersignException {
        sequence = json.number("sequence");
        id = json.id("id");
        sender = json.optionalId("sender");
        sentAt = json.date("sent_at");
        inReplyTo = json.optionalId("in_reply_to");
        thread = json.optionalId("thread");
        isDeleted = json.flag("deleted");
        isExpired = json.flag("expired", false);
        parts = json.has("parts") ? json.list("parts", MessagePart::read) : null;
        metadata = json.value("metadata");
        privateMetadata = json.value("private_metadata");
    }

    /** The message's number in the stream, from 1, without gaps. */
    public long sequence() {
        return sequence;
    }

    public UUID id() {
        return id;
    }

    /** The sender; null after the sender's erasure. */
    public @Nullable UUID sender() {
        return sender;
    }

    public Instant sentAt() {
        return sentAt;
    }

    /** The message that it replies to. */
    public @Nullable UUID inReplyTo() {
        return inReplyTo;
    }

    /** The first message of its thread; null if it is not a reply. */
    public @Nullable UUID thread() {
        return thread;
    }

    /** Whether it was deleted, for all members or for the user only. */
    public boolean isDeleted() {
        return isDeleted;
    }

    /** Whether the service has deleted the parts because the devices have them, or did not fetch them in time. */
    public boolean isExpired() {
        return isExpired;
    }

    /** The parts; null after the deletion, and in lists if they are long. */
    public @Nullable List<MessagePart> parts() {
        return parts;
    }

    /** The text of the first part that has one; null if there is none. */
    public @Nullable String text() {
        for (MessagePart part : parts == null ? java.util.Collections.<MessagePart>emptyList() : parts) {
            if (part.text() != null) return part.text();
        }
        return null;
    }

    /** Metadata that all members see, as JSON; null if there are none, and in a list of streams. */
    public @Nullable Object metadata() {
        return metadata;
    }

    /** Metadata that only the user sees, as JSON; null if there are none, and in a list of streams. */
    public @Nullable Object privateMetadata() {
        return privateMetadata;
    }
}
