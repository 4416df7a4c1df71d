package org.countersign.client.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import org.countersign.client.Countersign;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.FileStore;
import org.countersign.client.store.Presence;
import org.countersign.client.store.StorageFailure;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.Place;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Device;
import org.countersign.client.user.Proof;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Its tests take longest, so they run beside each other. */
@DisplayName("A crash of the app")
@Execution(ExecutionMode.CONCURRENT)
final class CrashTest {
    private static LiveService service() throws Exception {
        return new LiveService(Collections.singletonMap("phones.yaml", "presence_required: true\n"));
    }

    /** A device on which an app died is used by the next one. */
    private static void continueOn(LiveService service, Path place, int step) throws Exception {
        Presence presence = new Presence(DyingApp.keys(place).presence, "pin");
        try (TestApp app = new TestApp(service.service(), place, presence, 0)) {
            app.client.certify(Proof.none());
            try {
                app.act();
            } catch (CountersignException signedOut) {
                // A session whose secret was stored against all appearance was ended by the app that died.
                app.client.signIn(service.source("alice"));
                app.act();
            }
            app.client.phone().start("+14155550107");
            for (String name : new String[] {"keys", "presence"}) {
                assertEquals(1, place.resolve(name).toFile().list().length, name + " after step " + step);
            }
        }
    }

    @Test
    @DisplayName("before or after any step with keys and secrets leaves a device that works")
    void anywhere() throws Exception {
        try (LiveService service = service()) {
            int step = 0;
            boolean hasCrashed = true;
            for (; hasCrashed && step < 60; step++) {
                Path place = Place.make();
                Steps steps = Steps.failing(step);
                try {
                    DyingApp.live(service.service(), place, steps, service.source("alice"));
                } catch (CountersignException failure) {
                    assertTrue(steps.isOver(), failure.toString());
                }
                hasCrashed = steps.isOver();
                continueOn(service, place, step);
            }
            assertTrue(step > 8);
            assertFalse(hasCrashed);
        }
    }

    @Test
    @DisplayName("by a kill of its process before any step with keys and secrets: the next start continues")
    void killed() throws Exception {
        try (LiveService service = service()) {
            Path authority = Files.createTempFile("countersign-android-", ".pem");
            Files.write(authority, service.authority.getBytes(StandardCharsets.UTF_8));
            int killed = 0;
            boolean lived = false;
            for (int step = 0; !lived && step < 60; step++) {
                Path place = Place.make();
                Process process = new ProcessBuilder(
                    System.getProperty("java.home") + "/bin/java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp",
                    System.getProperty("java.class.path"), DyingApp.class.getName(), service.service().publicUrl(),
                    service.service().clientUrl(), authority.toString(), place.toString(), String.valueOf(step))
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
                try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()));
                        PrintStream tokens = new PrintStream(process.getOutputStream(), true)) {
                    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                        lived |= line.equals("lived");
                        if (!lived) tokens.println(service.identityToken("alice", line, 0));
                    }
                }
                assertTrue(process.waitFor(180, TimeUnit.SECONDS));
                assertEquals(lived ? 0 : 137, process.exitValue(), "step " + step);
                if (!lived) killed++;
                continueOn(service, place, step);
            }
            assertTrue(lived);
            assertTrue(killed >= 20, "killed " + killed + " times");
            Files.delete(authority);
        }
    }

    @Test
    @DisplayName("between the response and the disk is a lost response: the same request brings the same certificate")
    void lostCertificate() throws Exception {
        try (LiveService service = new LiveService()) {
            Path place = Place.make();
            // Read, write the request and learn of it. The write of the certificate is the fourth.
            try (Countersign dying = Countersign.builder(service.service())
                    .keys(new FileKeys(place.resolve("keys").toFile()))
                    .store(Steps.failing(3).store(new FileStore(place.resolve("secret.json").toFile())))
                    .build()) {
                CountersignException failure = TestApp.expect(Kind.STORAGE, () -> dying.certify(Proof.none()));
                assertEquals(StorageFailure.FAILED, failure.storageFailure());
            }
            try (TestApp app = new TestApp(service.service(), place)) {
                Device device = app.client.certify(Proof.none());
                assertEquals(1, app.count("/certificates", 200));
                String listed = service.admin("certificate", "list", "--json");
                assertTrue(listed.contains(device.serial()), listed);
                assertEquals(2, listed.split("\"serial\"", -1).length, listed);
            }
        }
    }
}
