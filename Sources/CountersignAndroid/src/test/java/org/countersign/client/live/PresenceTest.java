package org.countersign.client.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Problem;
import org.countersign.client.proof.PhoneVerification;
import org.countersign.client.store.DeviceKeys;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.Presence;
import org.countersign.client.store.StorageFailure;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.Place;
import org.countersign.client.support.Relay;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Assurance;
import org.countersign.client.user.Device;
import org.countersign.client.user.Proof;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A service that requires a proof that a user is at the device before it sends a text. */
@DisplayName("A proof of presence")
final class PresenceTest {
    private static final Map<String, String> REQUIRED = Collections.singletonMap(
        "phones.yaml", "presence_required: true\n");
    private static final String PATH = "/phone-verifications";

    /** A key that asks its user before each signature, as an app with a PIN of its own does. */
    private static final class AskingKeys implements DeviceKeys {
        private final FileKeys files;
        private final Runnable answer;
        volatile int asked;
        volatile boolean isRefused;

        AskingKeys(Path place, Runnable answer) {
            files = new FileKeys(place.resolve("presence").toFile());
            this.answer = answer;
        }

        Presence presence() {
            return new Presence(this, "pin");
        }

        @Override
        public PublicKey make(String name) throws CountersignException {
            return files.make(name);
        }

        @Override
        public PublicKey publicKey(String name) throws CountersignException {
            return files.publicKey(name);
        }

        @Override
        public PrivateKey privateKey(String name) throws CountersignException {
            return files.privateKey(name);
        }

        @Override
        public byte[] sign(byte[] message, String name) throws CountersignException {
            asked++;
            answer.run();
            if (isRefused) throw CountersignException.storage(StorageFailure.NOT_PRESENT, null);
            return files.sign(message, name);
        }

        @Override
        public void removeAllExcept(Set<String> names) throws CountersignException {
            files.removeAllExcept(names);
        }
    }

    @Test
    @DisplayName("is asked of the user at each start, is accepted whatever the device's clock says, and is there later")
    void proof() throws Exception {
        Path place = Place.make();
        AskingKeys keys = new AskingKeys(place, () -> {});
        try (LiveService service = new LiveService(REQUIRED);
                TestApp app = new TestApp(service.service(), place, keys.presence(), 600)) {
            Device device = app.client.certify(Proof.none());
            String shown = service.admin("device", "show", device.id().toString());
            assertTrue(shown.matches("(?s).*presence key +yes.*"), shown);
            app.client.signIn(service.source("alice"));
            assertEquals(0, keys.asked);
            PhoneVerification verification = app.client.phone().start("+1 (415) 555-0107");
            assertEquals(1, keys.asked);
            assertEquals(1, app.count(PATH));
            assertEquals(Assurance.PHONE, verification.check(service.code("+14155550107")));
            try (TestApp later = new TestApp(service.service(), place, keys.presence(), 0)) {
                later.client.phone().start("+14155550108");
            }
            assertEquals(2, keys.asked);
            assertEquals(1, place.resolve("presence").toFile().list().length);
        }
    }

    @Test
    @DisplayName("is missing on a device that has no key for it, and refused by a user it is none: nothing is sent")
    void missing() throws Exception {
        Path place = Place.make();
        try (LiveService service = new LiveService(REQUIRED); TestApp app = new TestApp(service.service(), place)) {
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            CountersignException failure = TestApp.expect(
                Problem.INVALID_PRESENCE_PROOF, () -> app.client.phone().start("+14155550107"));
            assertEquals("missing", failure.reason());
            Path other = Place.make();
            AskingKeys keys = new AskingKeys(other, () -> {});
            try (TestApp asking = new TestApp(service.service(), other, keys.presence(), 0)) {
                asking.client.certify(Proof.none());
                asking.client.signIn(service.source("alice"));
                keys.isRefused = true;
                CountersignException refused = TestApp.expect(
                    Kind.STORAGE, () -> asking.client.phone().start("+14155550107"));
                assertEquals(StorageFailure.NOT_PRESENT, refused.storageFailure());
                assertEquals(0, asking.count(PATH));
            }
        }
    }

    @Test
    @DisplayName("whose response was lost is made again around another nonce, and one text is sent")
    void lostAnswer() throws Exception {
        Path place = Place.make();
        try (LiveService service = new LiveService(REQUIRED); Relay relay = new Relay(service.clientPort)) {
            AskingKeys[] keys = new AskingKeys[1];
            keys[0] = new AskingKeys(place, () -> {
                if (keys[0].asked == 1) relay.loseAnswer();
            });
            try (TestApp app = new TestApp(
                    service.service(relay.port(), service.pins), place, keys[0].presence(), 0)) {
                app.client.certify(Proof.none());
                app.client.signIn(service.source("alice"));
                PhoneVerification verification = app.client.phone().start("+14155550107");
                assertEquals(2, keys[0].asked);
                assertEquals(3, app.count(PATH));
                assertEquals(1, app.count(PATH, 202));
                assertEquals(Assurance.PHONE, verification.check(service.code("+14155550107")));
                assertEquals(1, service.texts());
            }
        }
    }
}
