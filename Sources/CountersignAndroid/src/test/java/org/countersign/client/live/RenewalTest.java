package org.countersign.client.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Reply;
import org.countersign.client.Request;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Proof;
import org.countersign.client.user.Session;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What happens to calls when the session that they need is replaced. */
@DisplayName("Renewal of a session under calls")
final class RenewalTest {
    /** Makes a thousand calls at once, and returns the failures. */
    private static List<Throwable> flood(TestApp app) throws Exception {
        List<CompletableFuture<Reply>> calls = new ArrayList<>();
        for (int call = 0; call < 1000; call++) calls.add(app.client.callAsync(Request.get("/sessions/current")));
        List<Throwable> failures = new ArrayList<>();
        for (CompletableFuture<Reply> call : calls) {
            try {
                call.get();
            } catch (ExecutionException failure) {
                failures.add(failure.getCause());
            }
        }
        return failures;
    }

    /** Another process of the app, which cannot renew, sees when the service has noticed an admin's command. */
    private static void awaitCommand(LiveService service, TestApp app) throws Exception {
        try (TestApp other = new TestApp(service.service(), app.directory)) {
            other.refusal();
        }
    }

    @Test
    @DisplayName("a thousand calls in a challenged session make one renewal, and each is answered")
    void challenge() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            AtomicInteger tokens = new AtomicInteger();
            app.client.certify(Proof.none());
            Session session = app.client.signIn(service.source("alice", tokens));
            service.admin("session", "challenge", session.id().toString());
            awaitCommand(service, app);
            assertEquals(Collections.emptyList(), flood(app));
            assertEquals(1, app.count("/sessions/renew", 200));
            assertEquals(2, tokens.get());
            assertEquals(1, app.count("/sessions", 201));
            assertEquals(session.id(), app.client.session().id());
        }
    }

    @Test
    @DisplayName("a thousand calls across the end of a session make one other session of the same user")
    void expiry() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            AtomicInteger tokens = new AtomicInteger();
            app.client.certify(Proof.none());
            Session session = app.client.signIn(service.source("alice", tokens));
            service.admin("session", "end", session.id().toString());
            awaitCommand(service, app);
            assertEquals(Collections.emptyList(), flood(app));
            assertEquals(2, tokens.get());
            assertEquals(2, app.count("/sessions", 201));
            assertNotEquals(session.id(), app.client.session().id());
            assertEquals(session.userId(), app.client.session().userId());
        }
    }

    @Test
    @DisplayName("a renewal that proves another user gives no session: the calls are refused")
    void anotherUser() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            AtomicInteger asked = new AtomicInteger();
            app.client.certify(Proof.none());
            Session session = app.client.signIn(nonce -> service.identityToken(
                asked.incrementAndGet() == 1 ? "alice" : "mallory", nonce.value(), 0));
            service.admin("session", "challenge", session.id().toString());
            awaitCommand(service, app);
            TestApp.expect(Kind.ANOTHER_USER, app::act);
            assertNull(app.client.session());
        }
    }

    @Test
    @DisplayName("a provider that gives no token is named, and the session can be renewed later")
    void providerAway() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            AtomicInteger asked = new AtomicInteger();
            IllegalStateException away = new IllegalStateException("away");
            app.client.certify(Proof.none());
            Session session = app.client.signIn(nonce -> {
                if (asked.incrementAndGet() == 2) throw away;
                return service.identityToken("alice", nonce.value(), 0);
            });
            service.admin("session", "challenge", session.id().toString());
            awaitCommand(service, app);
            CountersignException failure = TestApp.expect(Kind.PROVIDER, app::act);
            Throwable cause = failure;
            while (cause.getCause() != null) cause = cause.getCause();
            assertSame(away, cause);
            app.act();
            assertEquals(session.id(), app.client.session().id());
            assertEquals(3, asked.get());
        }
    }

    @Test
    @DisplayName("a challenged session without a source is refused, and a sign-in renews it")
    void challengedAfterRestart() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            app.client.certify(Proof.none());
            Session session = app.client.signIn(service.source("alice"));
            service.admin("session", "challenge", session.id().toString());
            TestApp later = new TestApp(service.service(), app.directory);
            assertEquals("session_challenged", later.refusal().code());
            long sent = later.exchanges().size();
            TestApp.expect("session_challenged", later::act);
            assertEquals(sent, later.exchanges().size());
            assertEquals(session.id(), later.client.signIn(service.source("alice")).id());
            later.act();
            later.close();
        }
    }
}
