package org.countersign.client.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.countersign.client.AccessToken;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Problem;
import org.countersign.client.Request;
import org.countersign.client.State;
import org.countersign.client.permissions.Permission;
import org.countersign.client.proof.Card;
import org.countersign.client.proof.CardResult;
import org.countersign.client.proof.PhoneVerification;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Assurance;
import org.countersign.client.user.Device;
import org.countersign.client.user.Profile;
import org.countersign.client.user.Proof;
import org.countersign.client.user.Session;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Two people with two devices, from nothing to a permission. */
@DisplayName("An app of the SDK")
final class WholeFlowTest {
    /** Signs a user in and proves the phone number and a card. */
    private static TestApp verified(LiveService service, String name, String number) throws Exception {
        TestApp app = new TestApp(service.service());
        app.client.certify(Proof.none());
        assertEquals(Assurance.NONE, app.client.signIn(service.source(name)).assurance());
        PhoneVerification verification = app.client.phone().start(number);
        // Two starts are one: a response may have been lost.
        assertEquals(verification.id(), app.client.phone().start(number).id());
        assertEquals(Assurance.PHONE, verification.check(service.code(number)));
        CardResult result = app.client.card().submit(Card.aamva(service.barcode()));
        assertEquals("verified", result.status(), result.checks().toString());
        assertEquals(Assurance.BARCODE, result.assurance());
        assertEquals(result.checks().size(), app.client.card().result(result.id()).checks().size());
        return app;
    }

    @Test
    @DisplayName("certifies, signs in, proves phone and card, and gets permission of another user")
    void whole() throws Exception {
        try (LiveService service = new LiveService();
                TestApp alice = verified(service, "alice", "+14155550101");
                TestApp bob = verified(service, "bob", "+14155550102")) {
            Profile profile = bob.client.account().profile();
            assertEquals("+14155550102", profile.phoneNumber());
            assertEquals("devices/bob", profile.address());
            assertTrue(profile.isPresenceVisible());

            UUID id = alice.client.permissions().request("devices/bob");
            assertEquals(id, alice.client.permissions().request("devices/bob", null, id));
            List<Permission> asked = bob.client.permissions()
                .list(Permission.Box.IN, Permission.REQUESTED, null).permissions();
            assertEquals(1, asked.size());
            assertTrue(asked.get(0).partner().initials().length() > 0);
            assertEquals(Permission.APPROVED, bob.client.permissions().approve(id).state());
            String grant = alice.client.session().userId() + " -> " + bob.client.session().userId();
            assertEquals(grant, alice.client.permissions().grants().get(0).grant());
            assertEquals("devices/bob", alice.client.permissions().show(id).partner().profile().address());

            bob.client.permissions().block(alice.client.session().userId());
            assertEquals(Permission.CANCELLED, alice.client.permissions().show(id).state());
            bob.client.permissions().unblock(alice.client.session().userId());
            TestApp.expect(Problem.CONFLICT, () -> bob.client.permissions().approve(id));
            TestApp.expect(Problem.NOT_FOUND, () -> bob.client.permissions().show(UUID.randomUUID()));
            assertTrue(bob.client.account().apps().get(0).isCurrent());
        }
    }

    @Test
    @DisplayName("continues with the session after a restart, on other connections, and ends it for good")
    void restart() throws Exception {
        try (LiveService service = new LiveService(); TestApp first = new TestApp(service.service())) {
            Device device = first.client.certify(Proof.none());
            Session session = first.client.signIn(service.source("alice"));
            TestApp second = new TestApp(service.service(), first.directory);
            assertEquals(device, second.client.device());
            assertEquals(device, second.client.certify(Proof.none()));
            assertEquals(session.id(), second.client.resume().id());
            second.act();
            first.client.signOut();
            TestApp.expect(Problem.SESSION_DESTROYED, second::act);
            TestApp.expect(Kind.SIGNED_OUT, second::act);
            assertNull(second.client.session());
            second.close();
        }
    }

    @Test
    @DisplayName("signs out everywhere: the sessions of the user's other devices end, another user's stay")
    void everywhere() throws Exception {
        try (LiveService service = new LiveService(); TestApp phone = new TestApp(service.service());
                TestApp tablet = new TestApp(service.service()); TestApp other = new TestApp(service.service())) {
            for (TestApp app : Arrays.asList(phone, tablet, other)) {
                app.client.certify(Proof.none());
                app.client.signIn(service.source(app == other ? "bob" : "alice"));
            }
            phone.client.signOutEverywhere();
            assertNull(phone.client.session());
            other.act();
            // The tablet's app proves the identity again by itself, and has another session.
            tablet.act();
            assertEquals(1, tablet.count("/sessions/current", 401));
            assertEquals(2, tablet.count("/sessions", 201));
        }
    }

    @Test
    @DisplayName("has states, which every listener gets in order")
    void states() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            List<State> one = new CopyOnWriteArrayList<>();
            List<State> two = new CopyOnWriteArrayList<>();
            app.client.addStateListener(one::add);
            app.client.addStateListener(Runnable::run, two::add);
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            List<State> wanted = Arrays.asList(
                State.UNCERTIFIED, State.DISCONNECTED, State.CONNECTED_UNAUTHENTICATED, State.CONNECTED_AUTHENTICATED);
            TestApp.eventually(() -> one.equals(wanted) && two.equals(wanted));
            service.admin("certificate", "revoke", app.client.device().serial());
            assertEquals(Problem.CERTIFICATE_REVOKED, app.refusal().code());
            assertNull(app.client.device());
            TestApp.eventually(() -> app.client.state() == State.UNCERTIFIED);
            // Another key, and another certificate.
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            app.act();
        }
    }

    @Test
    @DisplayName("has tokens for its backend: one request for all threads that want one, a proof for each request")
    void accessTokens() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            List<CompletableFuture<AccessToken>> futures = new CopyOnWriteArrayList<>();
            for (int call = 0; call < 50; call++) futures.add(app.client.accessTokenAsync(service.provider));
            Set<String> values = new HashSet<>();
            for (CompletableFuture<AccessToken> future : futures) values.add(future.get().value());
            assertEquals(1, values.size());
            assertEquals(1, app.count("/token"));
            AccessToken token = app.client.accessToken(service.provider);
            String url = "https://shop.example/cart?item=1";
            assertEquals("DPoP " + token.value(), token.headers("GET", url).get("Authorization"));
            assertNotEquals(token.proof("GET", url), token.proof("GET", url));
            TestApp.expect(Problem.MALFORMED_REQUEST, () -> app.client.accessToken("https://other.example"));
        }
    }

    @Test
    @DisplayName("makes its own calls, with a body and its own header fields")
    void ownCalls() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            app.client.certify(Proof.none());
            TestApp.expect(Kind.SIGNED_OUT, () -> app.client.call(Request.get("/me")));
            app.client.signIn(service.source("alice"));
            assertEquals("devices/alice", app.client.call(Request.get("/me")).json().get("address"));
            Request patch = Request.patch("/me", Collections.singletonMap("presence", "hidden"));
            assertEquals("hidden", app.client.call(patch).json().get("presence"));
            assertTrue(app.client.callAsync(Request.get("/me")).get().header("content-type").contains("json"));
            TestApp.expect(Problem.SESSION_DESTROYED,
                () -> app.client.call(Request.get("/me").header("Authorization", "Bearer other")));
            TestApp.expect(Kind.UNREACHABLE, () -> app.client.call(Request.get("me")));
            app.client.close();
            assertThrows(IllegalStateException.class, app::act);
        }
    }
}
