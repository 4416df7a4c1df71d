package org.countersign.client.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.security.PublicKey;
import java.security.Security;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.countersign.client.Countersign;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Problem;
import org.countersign.client.Request;
import org.countersign.client.storage.FakeKeystore;
import org.countersign.client.store.AndroidKeystoreKeys;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.FileStore;
import org.countersign.client.store.KeyAttestor;
import org.countersign.client.support.KeyMint;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.Place;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Device;
import org.countersign.client.user.Proof;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Against a service that certifies attested devices only. */
@DisplayName("A client with an attestor")
@ResourceLock(FakeKeystore.NAME)
final class AttestationTest {
    private static final String GATED = "gate: attested\nattestation_status_unknown: admit\n";

    private static LiveService service(KeyMint mint) throws Exception {
        LiveService service = new LiveService(Collections.singletonMap("certification.yaml", GATED));
        service.trustDevices(mint);
        return service;
    }

    /** A call of the app, with keys in files and certificates of the mint. */
    private static KeyAttestor attestor(TestApp app, KeyMint mint) {
        FileKeys keys = new FileKeys(app.directory.resolve("keys").toFile());
        return (name, challenge) -> {
            PublicKey key = keys.make(name);
            List<byte[]> chain = new ArrayList<>();
            for (java.security.cert.X509Certificate one : mint.chain(key, challenge)) chain.add(one.getEncoded());
            return chain;
        };
    }

    @Test
    @DisplayName("is certified by a true chain, and by nothing else")
    void certified() throws Exception {
        KeyMint mint = new KeyMint();
        try (LiveService service = service(mint); TestApp app = new TestApp(service.service())) {
            assertEquals("gate", TestApp.expect(Problem.INVALID_CSR, () -> app.client.certify(Proof.none())).reason());
            Exception broken = new IllegalStateException("no hardware");
            CountersignException failure = TestApp.expect(Kind.UNATTESTED, () -> app.client.certify(
                (name, challenge) -> {
                    throw broken;
                }));
            // Every thread that waits for a certificate gets a failure of its own, whose cause is the first one.
            assertEquals(broken, failure.getCause().getCause());
            KeyAttestor foreign = attestor(app, new KeyMint());
            assertEquals("gate", TestApp.expect(Problem.INVALID_CSR, () -> app.client.certify(foreign)).reason());
            // What was refused is not sent again: the next attempt has another key and another challenge.
            Device device = app.client.certifyAsync(attestor(app, mint)).get();
            assertEquals("android_tee", service.attestation(device.id()));
            assertEquals(device, app.client.certify(foreign));
            app.client.signIn(service.source("alice"));
            app.act();
        }
    }

    @Test
    @DisplayName("repeats an attested request whose response was lost")
    void repeated() throws Exception {
        KeyMint mint = new KeyMint();
        try (LiveService service = service(mint); TestApp app = new TestApp(service.service())) {
            KeyAttestor attestor = attestor(app, mint);
            List<String> made = new ArrayList<>();
            KeyAttestor counting = (name, challenge) -> {
                List<byte[]> chain = attestor.attest(name, challenge);
                made.add(name);
                service.kill();
                return chain;
            };
            TestApp.expect(Kind.UNREACHABLE, () -> app.client.certify(counting));
            service.start();
            try (TestApp again = new TestApp(service.service(), app.directory)) {
                Device device = again.client.certify(counting);
                assertEquals("android_tee", service.attestation(device.id()));
                assertEquals(1, made.size());
            }
        }
    }

    @Test
    @DisplayName("has its keys in the key store of Android, here a stand-in, which attests them")
    void keystore() throws Exception {
        KeyMint mint = new KeyMint();
        FakeKeystore keystore = new FakeKeystore();
        FakeKeystore.begin((key, challenge) -> mint.chain(key, challenge));
        Security.addProvider(keystore);
        try (LiveService service = service(mint)) {
            AndroidKeystoreKeys keys = new AndroidKeystoreKeys();
            try (Countersign client = Countersign.builder(service.service()).keys(keys)
                    .store(new FileStore(Place.make().resolve("secret.json").toFile()))
                    .httpClient(TestApp.http()).build()) {
                Device device = client.certify(keys);
                assertEquals("android_tee", service.attestation(device.id()));
                client.signIn(service.source("alice"));
                assertNotNull(client.call(Request.get("/sessions/current")));
            }
        } finally {
            Security.removeProvider(FakeKeystore.NAME);
        }
    }
}
