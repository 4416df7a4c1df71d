package org.countersign.client.streams;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.Client;

/** The messages of a stream as they arrive: each once, in order. One thread at a time may read them. */
public final class MessageEvents {
    private final Client client;
    private final Streams streams;
    private final UUID stream;
    private final ArrayDeque<Message> rest = new ArrayDeque<>();
    private final @Nullable Duration pause;
    private long sequence;
    private @Nullable String anchor;

    MessageEvents(Client client, UUID stream, long after, @Nullable Duration pause) {
        this.client = client;
        this.streams = new Streams(client);
        this.stream = stream;
        this.sequence = after;
        this.pause = pause;
    }

    /** Waits for the next message. An interrupt of the thread ends the wait. The next call continues after it. */
    public Message next() throws CountersignException {
        while (rest.isEmpty()) {
            // The anchor is read before the first page, so that no message is missed.
            if (anchor == null && pause == null) anchor = streams.synchronize("latest", 0).anchor();
            Streams.MessagePage page = streams.messagesAfter(stream, sequence, 100);
            rest.addAll(page.messages());
            if (!rest.isEmpty()) {
                sequence = rest.getLast().sequence();
            } else if (pause == null) {
                awaitChange();
            } else {
                client.sleepFor(pause);
            }
        }
        return rest.remove();
    }

    public CompletableFuture<Message> nextAsync() {
        return client.async(this::next);
    }

    private void awaitChange() throws CountersignException {
        String next = anchor;
        boolean isOurs = false;
        while (!isOurs) {
            SyncPage page = streams.synchronize(next, Streams.LONGEST_WAIT);
            next = page.anchor();
            isOurs = page.operations().stream().anyMatch(change -> stream.equals(change.streamId()));
        }
        anchor = next;
    }
}
