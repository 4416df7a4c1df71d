package org.countersign.client.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Problem;
import org.countersign.client.Service;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.Place;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Device;
import org.countersign.client.user.Proof;
import org.countersign.client.user.Session;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that goes away, or is another one, or has another time than the device. */
@DisplayName("A service in trouble")
final class OutageTest {
    @Test
    @DisplayName("killed in the middle of calls and started again: typed errors meanwhile, then the same session")
    void killed() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            app.client.certify(Proof.none());
            Session session = app.client.signIn(service.source("alice"));
            List<String> wrong = new CopyOnWriteArrayList<>();
            AtomicInteger answered = new AtomicInteger();
            AtomicInteger missed = new AtomicInteger();
            AtomicBoolean isOver = new AtomicBoolean();
            List<Thread> callers = new ArrayList<>();
            for (int number = 0; number < 8; number++) {
                Thread caller = new Thread(() -> {
                    while (!isOver.get()) {
                        try {
                            app.act();
                            answered.incrementAndGet();
                        } catch (CountersignException failure) {
                            boolean isExpected = failure.kind() == Kind.UNREACHABLE
                                || failure.kind() == Kind.UNANSWERED || Problem.UNAVAILABLE.equals(failure.code());
                            missed.incrementAndGet();
                            if (!isExpected) wrong.add(failure.toString());
                        }
                    }
                });
                caller.start();
                callers.add(caller);
            }
            try {
                for (int round = 0; round < 3; round++) {
                    int before = answered.get();
                    TestApp.eventually(() -> answered.get() >= before + 50);
                    int lost = missed.get();
                    service.kill();
                    TestApp.eventually(() -> missed.get() > lost);
                    service.start();
                }
                int before = answered.get();
                TestApp.eventually(() -> answered.get() >= before + 50);
            } finally {
                isOver.set(true);
            }
            for (Thread caller : callers) caller.join();
            assertEquals(Collections.emptyList(), wrong);
            app.act();
            assertEquals(session.id(), app.client.session().id());
            assertEquals(1, app.count("/sessions", 201));
        }
    }

    @Test
    @DisplayName("away at the first start: nothing was sent, and the same request is certified later")
    void away() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            service.kill();
            CountersignException failure = TestApp.expect(Kind.UNREACHABLE, () -> app.client.certify(Proof.none()));
            assertTrue(!failure.mayHaveBeenCarriedOut());
            service.start();
            app.client.certify(Proof.none());
            assertEquals(1, app.directory.resolve("keys").toFile().list().length);
        }
    }

    @Test
    @DisplayName("a server with another key, or another authority, gets no request")
    void untrusted() throws Exception {
        try (LiveService service = new LiveService()) {
            String stranger = Base64.getEncoder().encodeToString(new byte[32]);
            List<String> both = new ArrayList<>(Arrays.asList(stranger));
            Service wrongKey = service.service(service.clientPort, both);
            TestApp pinned = new TestApp(wrongKey);
            TestApp.expect(Kind.PIN_MISMATCH, () -> pinned.client.certify(Proof.none()));
            assertEquals(1, pinned.exchanges().size());
            Service wrongRoots = Service.builder(service.service().publicUrl(), service.service().clientUrl()).build();
            TestApp.expect(Kind.UNTRUSTED, () -> new TestApp(wrongRoots).client.certify(Proof.none()));
            // The next key's pin beside the present one, and no pin at all.
            both.addAll(service.pins);
            for (List<String> pins : Arrays.asList(both, Collections.<String>emptyList())) {
                new TestApp(service.service(service.clientPort, pins)).client.certify(Proof.none());
            }
            // A pin that does not fit any longer is found on the client listener, too.
            TestApp app = new TestApp(service.service());
            app.client.certify(Proof.none());
            TestApp later = new TestApp(wrongKey, app.directory);
            TestApp.expect(Kind.PIN_MISMATCH, () -> later.client.signIn(service.source("alice")));
            assertEquals(1, later.exchanges().size());
        }
    }

    @ParameterizedTest(name = "a clock {0} s off is named, the device''s and the provider''s")
    @ValueSource(longs = {600, -600})
    void clock(long ahead) throws Exception {
        try (LiveService service = new LiveService();
                TestApp app = new TestApp(service.service(), Place.make(), null, ahead)) {
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            app.act();
            CountersignException failure = TestApp.expect(
                Kind.CLOCK_WRONG, () -> app.client.accessToken(service.provider));
            assertTrue(Math.abs(failure.clockOffset().getSeconds() - ahead) <= 30, failure.getMessage());
            assertTrue(failure.getMessage().contains(ahead > 0 ? "fast" : "slow"));
            TestApp other = new TestApp(service.service());
            other.client.certify(Proof.none());
            CountersignException refused = TestApp.expect(Kind.PROVIDER_CLOCK_WRONG, () -> other.client.signIn(
                nonce -> service.identityToken("alice", nonce.value(), ahead)));
            assertTrue(Math.abs(refused.clockOffset().getSeconds() - ahead) <= 30, refused.getMessage());
        }
    }

    @Test
    @DisplayName("a certificate that expired while the device slept is refused, also by its clock of an hour ago")
    void expired() throws Exception {
        String policy = "validity: 10s\n";
        try (LiveService service = new LiveService(Collections.singletonMap("certification.yaml", policy))) {
            Path place = Place.make();
            Device before;
            try (TestApp first = new TestApp(service.service(), place)) {
                before = first.client.certify(Proof.none());
            }
            TestApp.eventually(() -> Instant.now().isAfter(before.notAfter().plusSeconds(1)));
            try (TestApp app = new TestApp(service.service(), place, null, -3600)) {
                TestApp.expect(Kind.UNCERTIFIED, () -> app.client.signIn(service.source("alice")));
                app.client.certify(Proof.none());
                app.client.signIn(service.source("alice"));
                assertNotEquals(before.id(), app.client.device().id());
            }
        }
    }

    @Test
    @DisplayName("a banned user learns reason and end, at the next call and at the next sign-in")
    void banned() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            service.admin("ban", "add", "--user", "devices/alice", "--reason", "spam", "--for", "1h", "--yes");
            CountersignException refused = app.refusal();
            assertEquals(Kind.BANNED, refused.kind());
            assertEquals("spam", refused.reason());
            CountersignException again = TestApp.expect(
                Kind.BANNED, () -> app.client.signIn(service.source("alice")));
            assertEquals("spam", again.reason());
            assertNotNull(again.problem().until());
            assertNotNull(again.problem().exportToken());
            assertNull(app.client.session());
        }
    }
}
