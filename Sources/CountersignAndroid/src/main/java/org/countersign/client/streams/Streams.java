package org.countersign.client.streams;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.Client;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.wire.Text;

/** Streams of messages between users, over HTTP. */
public final class Streams {
    /** The longest wait of {@link #synchronize} for a change, in seconds. */
    public static final int LONGEST_WAIT = 25;
    private final Client client;

    /** Made by {@code Countersign}. */
    public Streams(Client client) {
        this.client = client;
    }

    /**
     * Opens a stream.
     *
     * @throws CountersignException {@code conflict} if the user lacks a permission for a member, or the id belongs to
     *     another opening
     */
    public void open(StreamOpening opening) throws CountersignException {
        client.answer(HttpCall.json("POST", "/streams", opening.members()).repeatable());
    }

    public CompletableFuture<Void> openAsync(StreamOpening opening) {
        return client.asyncVoid(() -> open(opening));
    }

    /**
     * Reads a page of the user's streams, or of forums, the most recently changed first.
     *
     * @param kind such as {@link MessageStream#FORUM}; null for the user's streams
     * @param cursor from the previous page
     */
    public StreamPage list(@Nullable String kind, @Nullable String cursor) throws CountersignException {
        Map<String, String> query = new LinkedHashMap<>();
        query.put("kind", kind);
        query.put("cursor", cursor);
        return new StreamPage(client.perform(HttpCall.of("GET", Text.path("/streams", query))));
    }

    public CompletableFuture<StreamPage> listAsync(@Nullable String kind, @Nullable String cursor) {
        return client.async(() -> list(kind, cursor));
    }

    /** Reads a stream with its metadata. */
    public MessageStream show(UUID stream) throws CountersignException {
        return new MessageStream(client.perform(HttpCall.of("GET", "/streams/" + stream)));
    }

    public CompletableFuture<MessageStream> showAsync(UUID stream) {
        return client.async(() -> show(stream));
    }

    /** Deletes a stream for all members. */
    public void delete(UUID stream) throws CountersignException {
        client.answer(HttpCall.of("DELETE", "/streams/" + stream));
    }

    public CompletableFuture<Void> deleteAsync(UUID stream) {
        return client.asyncVoid(() -> delete(stream));
    }

    /**
     * Sends a message. Repeating it with the same id returns the same result.
     *
     * @throws CountersignException {@code conflict} with state {@code closed} if the permission for a direct stream has
     *     ended
     */
    public SentMessage append(UUID stream, NewMessage message) throws CountersignException {
        String path = "/streams/" + stream + "/events";
        return new SentMessage(client.perform(HttpCall.json("POST", path, message.members()).repeatable()));
    }

    public CompletableFuture<SentMessage> appendAsync(UUID stream, NewMessage message) {
        return client.async(() -> append(stream, message));
    }

    /** Reads the messages after a number, oldest first. */
    public MessagePage messagesAfter(UUID stream, long sequence, int limit) throws CountersignException {
        return read(stream, "after", String.valueOf(sequence), limit);
    }

    public CompletableFuture<MessagePage> messagesAfterAsync(UUID stream, long sequence, int limit) {
        return client.async(() -> messagesAfter(stream, sequence, limit));
    }

    /** Reads the messages before a number, newest first. Null is for the newest. */
    public MessagePage messagesBefore(UUID stream, @Nullable Long sequence, int limit) throws CountersignException {
        return read(stream, "before", sequence == null ? null : sequence.toString(), limit);
    }

    public CompletableFuture<MessagePage> messagesBeforeAsync(UUID stream, @Nullable Long sequence, int limit) {
        return client.async(() -> messagesBefore(stream, sequence, limit));
    }

    private MessagePage read(UUID stream, String side, @Nullable String sequence, int limit)
            throws CountersignException {
        Map<String, String> query = new LinkedHashMap<>();
        query.put(side, sequence);
        query.put("limit", String.valueOf(limit));
        return new MessagePage(client.perform(HttpCall.of("GET", Text.path("/streams/" + stream + "/events", query))));
    }

    /** Every message after a number, and then each new one as it arrives. */
    public MessageEvents events(UUID stream, long after) {
        return new MessageEvents(client, stream, after, null);
    }

    /** The messages of a forum, which devices are not notified of: they are read at an interval. */
    public MessageEvents forumEvents(UUID stream, long after, Duration every) {
        return new MessageEvents(client, stream, after, every);
    }

    /** Deletes a message for all members. */
    public void deleteMessage(UUID stream, UUID message) throws CountersignException {
        client.answer(HttpCall.of("DELETE", "/streams/" + stream + "/events/" + message));
    }

    public CompletableFuture<Void> deleteMessageAsync(UUID stream, UUID message) {
        return client.asyncVoid(() -> deleteMessage(stream, message));
    }

    /** Deletes a message for the user only, on all of the user's devices. Other members keep it. */
    public void deleteMessageForMe(UUID stream, UUID message) throws CountersignException {
        client.answer(HttpCall.of("DELETE", "/streams/" + stream + "/events/" + message + "/copy"));
    }

    public CompletableFuture<Void> deleteMessageForMeAsync(UUID stream, UUID message) {
        return client.asyncVoid(() -> deleteMessageForMe(stream, message));
    }

    /** Reports the user's progress. Null leaves a number as it is, and lower numbers change nothing. */
    public void acknowledge(UUID stream, @Nullable Long deliveredThrough, @Nullable Long readThrough)
            throws CountersignException {
        Map<String, Object> report = HttpCall.members(
            "delivered_through", deliveredThrough, "read_through", readThrough);
        client.answer(HttpCall.json("POST", "/streams/" + stream + "/receipts", report).repeatable());
    }

    public CompletableFuture<Void> acknowledgeAsync(
            UUID stream, @Nullable Long deliveredThrough, @Nullable Long readThrough) {
        return client.asyncVoid(() -> acknowledge(stream, deliveredThrough, readThrough));
    }

    /** Reports that the user is writing. Repeat it every three seconds while the user is writing. */
    public void typing(UUID stream) throws CountersignException {
        client.answer(HttpCall.of("POST", "/streams/" + stream + "/typing").repeatable());
    }

    public CompletableFuture<Void> typingAsync(UUID stream) {
        return client.asyncVoid(() -> typing(stream));
    }

    /** Adds a user to a conversation. */
    public void add(UUID stream, UUID user) throws CountersignException {
        client.answer(HttpCall.of("PUT", "/streams/" + stream + "/members/" + user));
    }

    public CompletableFuture<Void> addAsync(UUID stream, UUID user) {
        return client.asyncVoid(() -> add(stream, user));
    }

    /** Removes a user, or leaves the stream with the own id. */
    public void remove(UUID stream, UUID user) throws CountersignException {
        client.answer(HttpCall.of("DELETE", "/streams/" + stream + "/members/" + user));
    }

    public CompletableFuture<Void> removeAsync(UUID stream, UUID user) {
        return client.asyncVoid(() -> remove(stream, user));
    }

    /**
     * Reads the changes since an anchor, and waits for one if there are none.
     *
     * @param anchor from the previous response. {@code 0} returns the current state of everything, {@code latest} only
     *     an anchor.
     * @param seconds the maximum wait, up to 25. The user is online while the call waits.
     */
    public SyncPage synchronize(String anchor, int seconds) throws CountersignException {
        int wait = Math.min(Math.max(0, seconds), LONGEST_WAIT);
        Map<String, String> query = new LinkedHashMap<>();
        query.put("anchor", anchor);
        query.put("wait", String.valueOf(wait));
        HttpCall call = HttpCall.of("GET", Text.path("/sync", query)).waiting(Duration.ofSeconds(wait));
        return new SyncPage(client.perform(call));
    }

    public CompletableFuture<SyncPage> synchronizeAsync(String anchor, int seconds) {
        return client.async(() -> synchronize(anchor, seconds));
    }

    /** A page of streams. */
    public static final class StreamPage {
        private final List<MessageStream> streams;
        private final @Nullable String cursor;

        private StreamPage(Json json) throws CountersignException {
            streams = json.list("streams", MessageStream::new);
            cursor = json.optionalText("cursor");
        }

        public List<MessageStream> streams() {
            return streams;
        }

        /** For the next page; null on the last page. */
        public @Nullable String cursor() {
            return cursor;
        }
    }

    /** A page of messages. */
    public static final class MessagePage {
        private final List<Message> messages;
        private final boolean hasMore;
        private final long lastSequence;

        private MessagePage(Json json) throws CountersignException {
            messages = json.list("events", Message::new);
            hasMore = json.flag("more");
            lastSequence = json.number("last_sequence");
        }

        public List<Message> messages() {
            return messages;
        }

        /** Whether there are more in the direction of reading. */
        public boolean hasMore() {
            return hasMore;
        }

        /** The number of the last message that the user may see. */
        public long lastSequence() {
            return lastSequence;
        }
    }

    /** The service's response to a message. */
    public static final class SentMessage {
        private final long sequence;
        private final Instant sentAt;
        private final @Nullable UUID thread;

        private SentMessage(Json json) throws CountersignException {
            sequence = json.number("sequence");
            sentAt = json.date("sent_at");
            thread = json.optionalId("thread");
        }

        public long sequence() {
            return sequence;
        }

        public Instant sentAt() {
            return sentAt;
        }

        /** The first message of its thread. */
        public @Nullable UUID thread() {
            return thread;
        }
    }
}
