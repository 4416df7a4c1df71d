package org.countersign.client.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import okhttp3.Call;
import okhttp3.EventListener;
import okhttp3.OkHttpClient;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Reply;
import org.countersign.client.Request;
import org.countersign.client.store.FileStore;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.Place;
import org.countersign.client.support.Relay;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Proof;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An interrupted thread")
final class InterruptTest {
    /** Runs a call on a thread, interrupts it when something holds, and returns the failure. */
    private static CountersignException interrupted(TestApp.Failing call, Relay relay) throws Exception {
        AtomicReference<CountersignException> failure = new AtomicReference<>();
        AtomicReference<Boolean> isKept = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                call.run();
            } catch (CountersignException expected) {
                failure.set(expected);
                isKept.set(Thread.currentThread().isInterrupted());
            } catch (Exception other) {
                throw new AssertionError(other);
            }
        });
        thread.start();
        TestApp.eventually(relay::isHolding);
        thread.interrupt();
        thread.join(5000);
        assertFalse(thread.isAlive());
        assertTrue(isKept.get(), "the thread's interrupt is lost");
        return failure.get();
    }

    @Test
    @DisplayName("ends its call, and the client works on")
    void call() throws Exception {
        AtomicInteger ended = new AtomicInteger();
        OkHttpClient http = TestApp.http().newBuilder().eventListener(new EventListener() {
            @Override
            public void callFailed(Call call, IOException failure) {
                ended.incrementAndGet();
            }
        }).build();
        try (LiveService service = new LiveService(); Relay relay = new Relay(service.clientPort);
                TestApp app = new TestApp(
                    service.service(relay.port(), service.pins), Place.make(), null, 0, http)) {
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            relay.hold();
            assertEquals(Kind.INTERRUPTED, interrupted(app::act, relay).kind());
            TestApp.eventually(() -> ended.get() == 1);
            relay.release();
            app.act();
        }
    }

    @Test
    @DisplayName("leaves a sign-in to its end: the session is stored whole")
    void signIn() throws Exception {
        try (LiveService service = new LiveService(); Relay relay = new Relay(service.clientPort);
                TestApp app = new TestApp(service.service(relay.port(), service.pins))) {
            app.client.certify(Proof.none());
            relay.hold();
            CountersignException failure = interrupted(() -> app.client.signIn(service.source("alice")), relay);
            assertEquals(Kind.INTERRUPTED, failure.kind());
            assertNull(app.client.session());
            relay.release();
            TestApp.eventually(() -> app.client.session() != null);
            try (TestApp later = new TestApp(service.service(), app.directory)) {
                assertEquals(app.client.session().id(), later.client.resume().id());
            }
        }
    }

    @Test
    @DisplayName("is what a cancelled future becomes: the call ends")
    void future() throws Exception {
        try (LiveService service = new LiveService(); Relay relay = new Relay(service.clientPort);
                TestApp app = new TestApp(service.service(relay.port(), service.pins))) {
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            relay.hold();
            CompletableFuture<Reply> call = app.client.callAsync(Request.get("/me"));
            TestApp.eventually(relay::isHolding);
            call.cancel(true);
            Assertions.assertThrows(CancellationException.class, call::get);
            TestApp.eventually(() -> app.exchanges().stream().anyMatch(
                one -> one.path().equals("/me") && one.status() == null));
            relay.release();
            assertNotNull(app.client.account().profile());
        }
    }

    @Test
    @DisplayName("writes a file whole, and keeps its interrupt")
    void write() throws Exception {
        Path place = Place.make();
        FileStore store = new FileStore(place.resolve("secret.json").toFile());
        byte[] secret = new byte[100_000];
        java.util.Arrays.fill(secret, (byte) 'x');
        CountDownLatch done = new CountDownLatch(1);
        AtomicReference<Object> result = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                for (int round = 0; round < 50; round++) {
                    Thread.currentThread().interrupt();
                    store.write(secret);
                    if (!Thread.interrupted()) throw new AssertionError("the interrupt is lost");
                }
                result.set("written");
            } catch (CountersignException | AssertionError failure) {
                result.set(failure);
            }
            done.countDown();
        });
        thread.start();
        assertTrue(done.await(120, TimeUnit.SECONDS));
        assertEquals("written", result.get());
        assertEquals(new String(secret, StandardCharsets.UTF_8), new String(store.read(), StandardCharsets.UTF_8));
        assertEquals(1, place.toFile().list().length);
    }
}
