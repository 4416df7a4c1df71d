package org.countersign.client.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicInteger;
import okhttp3.OkHttpClient;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Request;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.Place;
import org.countersign.client.support.Relay;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Proof;
import org.countersign.client.user.Session;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The service acts, and its response never comes. */
@DisplayName("A response that is lost")
final class LostAnswerTest {
    private static TestApp app(LiveService service, Relay relay) throws Exception {
        TestApp app = new TestApp(service.service(relay.port(), service.pins));
        app.client.certify(Proof.none());
        return app;
    }

    @Test
    @DisplayName("of a sign-in: the provider is asked again, around another nonce")
    void signIn() throws Exception {
        try (LiveService service = new LiveService(); Relay relay = new Relay(service.clientPort);
                TestApp app = app(service, relay)) {
            AtomicInteger asked = new AtomicInteger();
            Session session = app.client.signIn(nonce -> {
                if (asked.incrementAndGet() == 1) relay.loseAnswer();
                return service.identityToken("alice", nonce.value(), 0);
            });
            assertEquals(2, asked.get());
            assertTrue(app.count("/nonces") >= 2);
            app.act();
            assertEquals(session.id(), app.client.session().id());
        }
    }

    @Test
    @DisplayName("of a renewal: the user is the same afterwards")
    void renewal() throws Exception {
        try (LiveService service = new LiveService(); Relay relay = new Relay(service.clientPort);
                TestApp app = app(service, relay)) {
            AtomicInteger asked = new AtomicInteger();
            Session session = app.client.signIn(nonce -> {
                if (asked.incrementAndGet() == 2) relay.loseAnswer();
                return service.identityToken("alice", nonce.value(), 0);
            });
            service.admin("session", "challenge", session.id().toString());
            try (TestApp other = new TestApp(service.service(), app.directory)) {
                other.refusal();
            }
            app.act();
            assertEquals(session.userId(), app.client.session().userId());
            assertTrue(asked.get() >= 3);
        }
    }

    @Test
    @DisplayName("of a call: what is safe is repeated, of the rest the app learns that it may have been carried out")
    void calls() throws Exception {
        try (LiveService service = new LiveService(); Relay relay = new Relay(service.clientPort);
                TestApp app = app(service, relay)) {
            app.client.signIn(service.source("alice"));
            relay.loseAnswer();
            app.act();
            assertEquals(2, app.count("/sessions/current"));
            relay.loseAnswer();
            Request unsafe = Request.post("/nonces", Collections.emptyMap());
            long before = app.count("/nonces");
            CountersignException failure = TestApp.expect(Kind.UNANSWERED, () -> app.client.call(unsafe));
            assertTrue(failure.mayHaveBeenCarriedOut());
            assertEquals(before + 1, app.count("/nonces"));
            app.act();
        }
    }

    @Test
    @DisplayName("is not sent again by the HTTP library, also if the server has several addresses")
    void severalAddresses() throws Exception {
        AtomicInteger sent = new AtomicInteger();
        InetAddress address = InetAddress.getByName("127.0.0.1");
        OkHttpClient http = TestApp.http().newBuilder()
            .dns(host -> Arrays.asList(address, address))
            .addNetworkInterceptor(chain -> {
                if (chain.request().url().encodedPath().equals("/nonces")) sent.incrementAndGet();
                return chain.proceed(chain.request());
            })
            .build();
        try (LiveService service = new LiveService(); Relay relay = new Relay(service.clientPort);
                TestApp app = new TestApp(
                    service.service(relay.port(), service.pins), Place.make(), null, 0, http)) {
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            int before = sent.get();
            relay.loseAnswer();
            Request unsafe = Request.post("/nonces", Collections.emptyMap());
            TestApp.expect(Kind.UNANSWERED, () -> app.client.call(unsafe));
            assertEquals(before + 1, sent.get());
        }
    }
}
