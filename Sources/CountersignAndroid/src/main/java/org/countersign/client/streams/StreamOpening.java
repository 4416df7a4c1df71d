package org.countersign.client.streams;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.countersign.client.internal.wire.HttpCall;

/** A stream to open. A repetition with the same id has no further effect. */
public final class StreamOpening {
    private final UUID id;
    private final Map<String, Object> members;

    private StreamOpening(UUID id, Map<String, Object> members) {
        this.id = id;
        this.members = members;
    }

    /** Between this user and another one, given by user id or address, with a permission. */
    public static StreamOpening direct(String member) {
        return of(MessageStream.DIRECT, Collections.singletonList(member), UUID.randomUUID());
    }

    /** Between up to 25 users. */
    public static StreamOpening conversation(List<String> members) {
        return conversation(members, UUID.randomUUID());
    }

    /** Between up to 25 users, with an id of the app. */
    public static StreamOpening conversation(List<String> members, UUID id) {
        return of(MessageStream.CONVERSATION, members, id);
    }

    /** Open to all users of the provider. */
    public static StreamOpening forum() {
        return of(MessageStream.FORUM, Collections.emptyList(), UUID.randomUUID());
    }

    private static StreamOpening of(String kind, List<String> members, UUID id) {
        return new StreamOpening(
            id, HttpCall.members("id", id.toString(), "kind", kind, "members", new ArrayList<>(members)));
    }

    private StreamOpening with(String name, Object value) {
        Map<String, Object> more = HttpCall.members(name, value);
        more.putAll(members);
        return new StreamOpening(id, more);
    }

    public UUID id() {
        return id;
    }

    public StreamOpening title(String title) {
        return with("title", title);
    }

    /** What the stream is about. */
    public StreamOpening about(String about) {
        return with("description", about);
    }

    public StreamOpening imageUrl(String url) {
        return with("image_url", url);
    }

    /** Metadata that all members see: maps, lists, texts, numbers, booleans and null. */
    public StreamOpening metadata(Map<String, ?> metadata) {
        return with("metadata", metadata);
    }

    Map<String, Object> members() {
        return members;
    }
}
