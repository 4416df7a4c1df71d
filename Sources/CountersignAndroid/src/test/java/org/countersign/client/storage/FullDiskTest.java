package org.countersign.client.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.store.StorageFailure;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.Place;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Device;
import org.countersign.client.user.Proof;
import org.countersign.client.user.Session;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@DisplayName("A full disk of the device")
final class FullDiskTest {
    private static final String DISK = "countersign.disk";

    @Test
    @DisplayName("is tried on a file system of 64 KiB, in a namespace of its own")
    @DisabledIfSystemProperty(named = DISK, matches = ".*")
    void outside() throws Exception {
        Path place = Place.make();
        // A user other than root may mount in a namespace where the user is root.
        String user = System.getProperty("user.name").equals("root") ? "" : "--user --map-current-user --keep-caps";
        String mount = "mount -t tmpfs -o size=64k,mode=0700 none \"$0\" && exec \"$@\"";
        String script = "unshare --mount " + user + " sh -c '" + mount + "' \"$@\"";
        Process inside = new ProcessBuilder(
            "sh", "-c", script, "sh", place.toString(), System.getProperty("java.home") + "/bin/java", "-cp",
            System.getProperty("java.class.path"), "-D" + DISK + "=" + place, "-Dcountersign.root=" + Place.ROOT,
            "-Dcountersign.binary=" + Place.BINARY, "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
            "org.junit.platform.console.ConsoleLauncher", "--disable-banner", "-m",
            FullDiskTest.class.getName() + "#inside").inheritIO().start();
        assertEquals(true, inside.waitFor(120, TimeUnit.SECONDS));
        assertEquals(0, inside.exitValue());
    }

    private static void fill(Path filler) throws IOException {
        try (FileOutputStream file = new FileOutputStream(filler.toFile())) {
            for (int size : new int[] {4096, 1}) {
                try {
                    for (int part = 0; part < 32; part++) file.write(new byte[size]);
                } catch (IOException full) {
                    // The next size may still fit.
                }
            }
        }
    }

    private static void expectFull(TestApp.Failing call) {
        assertEquals(StorageFailure.FULL, TestApp.expect(Kind.STORAGE, call).storageFailure());
    }

    @Test
    @DisplayName("is a typed error, and what was stored before stays. With room again the app continues")
    @EnabledIfSystemProperty(named = DISK, matches = ".*")
    void inside() throws Exception {
        Path disk = Paths.get(System.getProperty(DISK));
        Path filler = disk.resolve("filler");
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service(), disk)) {
            fill(filler);
            expectFull(() -> app.client.certify(Proof.none()));
            Files.delete(filler);
            Device device = app.client.certify(Proof.none());

            fill(filler);
            expectFull(() -> app.client.signIn(service.source("alice")));
            assertNull(app.client.session());
            assertEquals(device, app.client.device());
            try (TestApp later = new TestApp(service.service(), disk)) {
                assertEquals(device, later.client.device());
                assertNull(later.client.session());
            }
            Files.delete(filler);
            Session session = app.client.signIn(service.source("alice"));

            // A renewal on a full disk serves as long as the app runs, and is stored with the next change.
            fill(filler);
            service.admin("session", "challenge", session.id().toString());
            for (int call = 0; call < 20; call++) {
                app.act();
                Thread.sleep(50);
            }
            assertEquals(session.id(), app.client.session().id());
            Files.delete(filler);
            app.client.signOut();
        }
    }
}
