package org.countersign.client.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import org.countersign.client.Countersign;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Service;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.FileStore;
import org.countersign.client.store.StorageFailure;
import org.countersign.client.support.Place;
import org.countersign.client.support.TestApp;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Files of keys and secrets")
final class FileStorageTest {
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String mode(Path file) throws Exception {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    @DisplayName("belong to their user, and are replaced whole")
    void store() throws Exception {
        Path place = Place.make();
        Path file = place.resolve("deep/secret.json");
        FileStore store = new FileStore(file.toFile());
        assertNull(store.read());
        store.write(bytes("one"));
        store.write(bytes("two"));
        assertArrayEquals(bytes("two"), store.read());
        assertEquals("rw-------", mode(file));
        assertEquals("rwx------", mode(file.getParent()));
        assertEquals(1, file.getParent().toFile().list().length);
        store.remove();
        store.remove();
        assertNull(store.read());
    }

    @Test
    @DisplayName("are never read half-written, while another thread writes")
    void whole() throws Exception {
        FileStore store = new FileStore(Place.make().resolve("secret.json").toFile());
        byte[] one = new byte[50_000];
        byte[] two = new byte[60_000];
        Arrays.fill(two, (byte) 1);
        store.write(one);
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            try {
                for (int round = 0; round < 200; round++) store.write(round % 2 == 0 ? two : one);
            } catch (CountersignException failure) {
                throw new AssertionError(failure);
            }
        });
        int reads = 0;
        for (; !writing.isDone(); reads++) {
            byte[] read = store.read();
            assertTrue(Arrays.equals(read, one) || Arrays.equals(read, two), "read " + read.length + " bytes");
        }
        writing.get();
        assertTrue(reads > 0);
    }

    @Test
    @DisplayName("drafts of a crash are removed after a minute, and recent ones stay")
    void drafts() throws Exception {
        Path place = Place.make();
        Path old = Files.write(place.resolve(".secret.json.draft-old"), bytes("x"));
        Path recent = Files.write(place.resolve(".secret.json.draft-recent"), bytes("x"));
        Files.setLastModifiedTime(old, FileTime.fromMillis(System.currentTimeMillis() - 120_000));
        assertNull(new FileStore(place.resolve("secret.json").toFile()).read());
        assertEquals(false, Files.exists(old));
        assertEquals(true, Files.exists(recent));
    }

    @Test
    @DisplayName("keys sign, survive a restart, and are removed but for those in use")
    void keys() throws Exception {
        Path place = Place.make();
        FileKeys keys = new FileKeys(place.toFile());
        PublicKey one = keys.make("one");
        keys.make("two");
        FileKeys later = new FileKeys(place.toFile());
        assertEquals(one, later.publicKey("one"));
        Signature check = Signature.getInstance("SHA256withECDSA");
        check.initVerify(one);
        check.update(bytes("text"));
        assertEquals(true, check.verify(later.sign(bytes("text"), "one")));
        assertEquals("rw-------", mode(place.resolve("one.pem")));
        later.removeAllExcept(Collections.singleton("one"));
        assertNull(later.publicKey("two"));
        assertNotNull(later.privateKey("one"));
        assertEquals(
            StorageFailure.DAMAGED,
            TestApp.expect(Kind.STORAGE, () -> later.privateKey("two")).storageFailure());
    }

    @Test
    @DisplayName("a damaged secret is named, and so is a directory without access")
    void damaged() throws Exception {
        Path place = Place.make();
        Path file = place.resolve("secret.json");
        Service service = Service.builder("https://127.0.0.1:1", "https://127.0.0.1:2").build();
        for (String text : new String[] {"", "{", "[]", "{\"device\":1}", "{\"session\":{\"id\":\"x\"}}", "{} {}"}) {
            Files.write(file, bytes(text));
            try (Countersign client = Countersign.builder(service).keys(new FileKeys(place.resolve("k").toFile()))
                    .store(new FileStore(file.toFile())).build()) {
                assertEquals(
                    StorageFailure.DAMAGED, TestApp.expect(Kind.STORAGE, client::device).storageFailure(), text);
            }
        }
        Path occupied = Files.write(place.resolve("file"), bytes("x"));
        FileStore below = new FileStore(occupied.resolve("secret.json").toFile());
        TestApp.expect(Kind.STORAGE, () -> below.write(bytes("x")));
        Assertions.assertThrows(IllegalArgumentException.class, () -> Service.builder("http://a", "https://b"));
        Assertions.assertThrows(
            IllegalArgumentException.class, () -> Service.builder("https://a", "https://b").pin("abc"));
    }
}
