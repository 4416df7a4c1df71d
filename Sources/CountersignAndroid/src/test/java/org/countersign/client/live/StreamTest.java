package org.countersign.client.live;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.countersign.client.CountersignException;
import org.countersign.client.Problem;
import org.countersign.client.streams.Message;
import org.countersign.client.streams.MessageEvents;
import org.countersign.client.streams.MessagePart;
import org.countersign.client.streams.MessageStream;
import org.countersign.client.streams.NewMessage;
import org.countersign.client.streams.StreamOpening;
import org.countersign.client.streams.Streams;
import org.countersign.client.streams.SyncPage;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Proof;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Devices of several users, and the running service between them. */
@DisplayName("Streams of the SDK")
final class StreamTest {
    private static TestApp device(LiveService service, String user) throws Exception {
        TestApp app = new TestApp(service.service());
        app.client.certify(Proof.none());
        app.client.signIn(service.source(user));
        return app;
    }

    @Test
    @DisplayName("carry messages, threads, receipts, members and metadata, as calls and as a sequence")
    void calls() throws Exception {
        Map<String, String> open = Collections.singletonMap(
            "streams.yaml", "conversation_requires: provider\nrequired_level: none\n");
        try (LiveService service = new LiveService(open); TestApp ann = device(service, "ann");
                TestApp bob = device(service, "bob")) {
            Map<String, Object> metadata = new HashMap<>();
            metadata.put("b", 1L);
            metadata.put("a", Collections.singletonMap("y", true));
            StreamOpening opening = StreamOpening.conversation(Arrays.asList("devices/bob"))
                .title("Plans").about("What we do").metadata(metadata);
            UUID stream = opening.id();
            Streams anns = ann.client.streams();
            Streams bobs = bob.client.streams();
            for (int repetition = 0; repetition < 2; repetition++) anns.open(opening);
            CompletableFuture<List<String>> reading = CompletableFuture.supplyAsync(() -> {
                MessageEvents events = bobs.events(stream, 0);
                List<String> found = new ArrayList<>();
                try {
                    while (found.size() < 3) found.add(events.next().text());
                } catch (CountersignException failure) {
                    found.add(failure.toString());
                }
                return found;
            });
            byte[] picture = {0, (byte) 255};
            NewMessage first = NewMessage.of(MessagePart.text("one"), MessagePart.bytes(picture, "image/png"));
            Streams.SentMessage sent = anns.append(stream, first);
            assertEquals(sent.sentAt(), anns.append(stream, first).sentAt());
            assertEquals(1, sent.sequence());
            assertNull(sent.thread());
            assertEquals(first.id(), bobs.append(stream, NewMessage.text("two").inReplyTo(first.id())).thread());
            anns.append(stream, NewMessage.text("three \u00e9 \ud83d\ude00"));
            assertEquals(Arrays.asList("one", "two", "three \u00e9 \ud83d\ude00"), reading.get(120, TimeUnit.SECONDS));

            Streams.MessagePage page = bobs.messagesBefore(stream, null, 2);
            assertEquals(3, page.messages().get(0).sequence());
            assertTrue(page.hasMore());
            Message read = bobs.messagesAfter(stream, 0, 100).messages().get(0);
            assertArrayEquals(picture, read.parts().get(1).bytes());
            bobs.acknowledge(stream, 9L, 2L);
            bobs.typing(stream);
            MessageStream shown = bobs.show(stream);
            assertEquals("Plans", shown.title());
            assertEquals(1L, shown.unread());
            assertEquals(metadata, shown.metadata());
            MessageStream.Member member = shown.members().stream()
                .filter(one -> one.profile().address().equals("devices/bob")).findFirst().get();
            assertEquals(3, member.deliveredThrough());
            assertEquals(2, member.readThrough());
            assertEquals(stream, anns.list(MessageStream.CONVERSATION, null).streams().get(0).id());
            SyncPage all = bobs.synchronize("0", 0);
            assertTrue(all.operations().stream().anyMatch(one -> stream.equals(one.streamId())));
            anns.deleteMessage(stream, first.id());
            assertTrue(bobs.messagesAfter(stream, 0, 1).messages().get(0).isDeleted());
            bobs.remove(stream, bob.client.session().userId());
            assertEquals(MessageStream.LEFT, bobs.show(stream).state());
            anns.add(stream, bob.client.session().userId());
            anns.delete(stream);
            TestApp.expect(Problem.NOT_FOUND, () -> bobs.show(stream));
        }
    }
}
