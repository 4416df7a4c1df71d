package org.countersign.client.streams;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.internal.wire.HttpCall;

/** A message to send. A repetition with the same id has no further effect. */
public final class NewMessage {
    private final UUID id;
    private final List<MessagePart> parts;
    private final @Nullable UUID inReplyTo;

    /**
     * Makes a message.
     *
     * @param parts 1 to 16, with at most 64 KiB of content in total
     * @param inReplyTo the message that it replies to
     */
    public NewMessage(UUID id, List<MessagePart> parts, @Nullable UUID inReplyTo) {
        this.id = id;
        this.parts = Collections.unmodifiableList(new ArrayList<>(parts));
        this.inReplyTo = inReplyTo;
    }

    /** A message of plain text. */
    public static NewMessage text(String text) {
        return of(MessagePart.text(text));
    }

    /** A message of some parts. */
    public static NewMessage of(MessagePart... parts) {
        return new NewMessage(UUID.randomUUID(), Arrays.asList(parts), null);
    }

    /** The same message as a reply to another one. */
    public NewMessage inReplyTo(UUID message) {
        return new NewMessage(id, parts, message);
    }

    public UUID id() {
        return id;
    }

    public List<MessagePart> parts() {
        return parts;
    }

    Map<String, Object> members() {
        List<Map<String, Object>> written = new ArrayList<>();
        for (MessagePart part : parts) written.add(part.members());
        return HttpCall.members(
            "id", id.toString(), "parts", written, "in_reply_to", inReplyTo == null ? null : inReplyTo.toString());
    }
}
