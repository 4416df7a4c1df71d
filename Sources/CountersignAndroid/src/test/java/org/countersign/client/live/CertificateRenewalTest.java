package org.countersign.client.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.countersign.client.Countersign;
import org.countersign.client.CountersignException;
import org.countersign.client.Exchange;
import org.countersign.client.Request;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.FileStore;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.Place;
import org.countersign.client.support.Relay;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Device;
import org.countersign.client.user.Profile;
import org.countersign.client.user.Proof;
import org.countersign.client.user.Session;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The service refuses the old certificate of a device as soon as it has seen the new one. */
@DisplayName("Renewal of a certificate under calls")
final class CertificateRenewalTest {
    private static LiveService service(int validity) throws Exception {
        return new LiveService(Collections.singletonMap(
            "certification.yaml", "validity: " + validity + "s\nrenewals_per_day: 100\n"));
    }

    @Test
    @DisplayName("comes by itself and once: no call is lost, and the old certificate is used no longer")
    void load() throws Exception {
        try (LiveService service = service(15); TestApp app = new TestApp(service.service())) {
            Device first = app.client.certify(Proof.none());
            Session session = app.client.signIn(service.source("alice"));
            List<String> failures = new CopyOnWriteArrayList<>();
            AtomicBoolean isOver = new AtomicBoolean();
            AtomicInteger calls = new AtomicInteger();
            List<Thread> callers = new ArrayList<>();
            for (int number = 0; number < 16; number++) {
                Thread caller = new Thread(() -> {
                    while (!isOver.get()) {
                        try {
                            app.act();
                            calls.incrementAndGet();
                            Thread.sleep(50);
                        } catch (CountersignException | InterruptedException failure) {
                            failures.add(failure.toString());
                        }
                    }
                });
                caller.start();
                callers.add(caller);
            }
            try {
                TestApp.eventually(() -> !app.client.device().serial().equals(first.serial()));
                long renewals = app.count("/certificates/renewal");
                // Until calls can rest on the second certificate alone.
                int before = calls.get();
                TestApp.eventually(() ->
                    Instant.now().isAfter(first.notAfter().plusSeconds(1)) && calls.get() > before + 100);
                assertEquals(1, renewals);
            } finally {
                isOver.set(true);
            }
            for (Thread caller : callers) caller.join();
            assertEquals(Collections.emptyList(), failures);
            assertTrue(app.exchanges().stream().allMatch(one -> one.status() != null && one.status() != 403));
            assertEquals(first.id(), app.client.device().id());
            assertEquals(session.id(), app.client.session().id());
            assertEquals(1, app.count("/sessions", 201));
        }
    }

    @Test
    @DisplayName("waits for the call that is under way, and what comes after it waits for the new certificate")
    void underWay() throws Exception {
        try (LiveService service = service(30); Relay relay = new Relay(service.clientPort)) {
            AtomicReference<Countersign> own = new AtomicReference<>();
            AtomicReference<CompletableFuture<Profile>> early = new AtomicReference<>();
            List<Exchange> exchanges = new CopyOnWriteArrayList<>();
            Path place = Place.make();
            Countersign client = Countersign.builder(service.service(relay.port(), service.pins))
                .keys(new FileKeys(place.resolve("keys").toFile()))
                .store(new FileStore(place.resolve("secret.json").toFile()))
                .httpClient(TestApp.http())
                .watch(exchange -> {
                    exchanges.add(exchange);
                    boolean isRenewal = exchange.path().equals("/certificates/renewal")
                        && Integer.valueOf(201).equals(exchange.status());
                    if (!isRenewal || early.get() != null) return;
                    // The client gets its new certificate when this returns: a call is under way by then.
                    relay.hold();
                    early.set(own.get().account().profileAsync());
                    for (int look = 0; look < 1000 && !relay.isHolding(); look++) sleep();
                })
                .build();
            own.set(client);
            Device first = client.certify(Proof.none());
            client.signIn(service.source("alice"));
            TestApp.eventually(() -> !client.device().serial().equals(first.serial()));
            CompletableFuture<Void> late = CompletableFuture.runAsync(() -> {
                try {
                    client.call(Request.get("/sessions/current"));
                } catch (CountersignException failure) {
                    throw new AssertionError(failure);
                }
            });
            // A client that does not wait shows the new certificate now. One that does waits here for a second.
            for (int look = 0; look < 100; look++) sleep();
            relay.release();
            early.get().get();
            late.get();
            int renewal = exchanges.stream().map(Exchange::path).collect(Collectors.toList())
                .indexOf("/certificates/renewal");
            List<String> after = exchanges.stream().skip(renewal + 1).limit(3).map(Exchange::path)
                .collect(Collectors.toList());
            assertEquals(Arrays.asList("/me", "/nonces", "/sessions/current"), after);
            assertTrue(exchanges.stream().noneMatch(one -> Integer.valueOf(403).equals(one.status())));
            assertNotEquals(first.serial(), client.device().serial());
            client.close();
        }
    }

    @Test
    @DisplayName("is made up for at the next call, if no timer ran while the device slept")
    void slept() throws Exception {
        try (LiveService service = service(90)) {
            List<Exchange> exchanges = new CopyOnWriteArrayList<>();
            AtomicReference<Duration> slept = new AtomicReference<>(Duration.ZERO);
            Path place = Place.make();
            try (Countersign client = Countersign.builder(service.service())
                    .keys(new FileKeys(place.resolve("keys").toFile()))
                    .store(new FileStore(place.resolve("secret.json").toFile()))
                    .clock(new Clock() {
                        @Override
                        public ZoneId getZone() {
                            return ZoneOffset.UTC;
                        }

                        @Override
                        public Clock withZone(ZoneId zone) {
                            return this;
                        }

                        @Override
                        public Instant instant() {
                            return Instant.now().plus(slept.get());
                        }
                    })
                    .watch(exchanges::add)
                    .build()) {
                client.certify(Proof.none());
                client.signIn(service.source("alice"));
                slept.set(Duration.ofSeconds(75));
                client.call(Request.get("/sessions/current"));
                // The service's own clock did not move, so only the request matters.
                TestApp.eventually(() -> exchanges.stream().anyMatch(
                    one -> one.path().equals("/certificates/renewal")));
                client.call(Request.get("/sessions/current"));
            }
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
        }
    }
}
