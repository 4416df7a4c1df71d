package org.countersign.client.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import android.content.Context;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.util.Arrays;
import java.util.Collections;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.store.EncryptedFileStore;
import org.countersign.client.store.StorageFailure;
import org.countersign.client.support.Place;
import org.countersign.client.support.TestApp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

@DisplayName("The sealed file of Android, with a stand-in for the key store")
@ResourceLock(FakeKeystore.NAME)
final class AndroidStoreTest {
    private final Path place = Place.make();
    private final byte[] secret = "a session token".getBytes(StandardCharsets.UTF_8);

    @BeforeEach
    void begin() {
        FakeKeystore.begin((key, challenge) -> Collections.emptyList());
        Security.addProvider(new FakeKeystore());
    }

    @AfterEach
    void end() {
        Security.removeProvider(FakeKeystore.NAME);
    }

    private EncryptedFileStore store() {
        return new EncryptedFileStore(new Context() {
            @Override
            public File getNoBackupFilesDir() {
                return place.toFile();
            }
        });
    }

    private Path file() {
        return place.resolve("countersign.sealed");
    }

    @Test
    @DisplayName("has the secret after a restart, and nobody reads it in the file")
    void sealed() throws Exception {
        assertNull(store().read());
        store().write(secret);
        byte[] first = Files.readAllBytes(file());
        store().write(secret);
        assertArrayEquals(secret, store().read());
        assertFalse(new String(first, StandardCharsets.ISO_8859_1).contains("session"));
        // Another nonce for each write.
        assertFalse(Arrays.equals(first, Files.readAllBytes(file())));
        assertEquals(1, place.toFile().list().length);
        store().remove();
        assertNull(store().read());
        assertEquals(0, FakeKeystore.KEYS.size());
    }

    @Test
    @DisplayName("names a changed file, and takes one of another device for none")
    void changed() throws Exception {
        store().write(secret);
        byte[] sealed = Files.readAllBytes(file());
        for (int index : new int[] {0, 12, sealed.length - 1}) {
            byte[] changed = sealed.clone();
            changed[index] ^= 1;
            Files.write(file(), changed);
            assertEquals(
                StorageFailure.DAMAGED, TestApp.expect(Kind.STORAGE, () -> store().read()).storageFailure());
        }
        for (int length : new int[] {0, 5, 12, 20}) {
            Files.write(file(), Arrays.copyOf(sealed, length));
            TestApp.expect(Kind.STORAGE, () -> store().read());
        }
        Files.write(file(), sealed);
        assertArrayEquals(secret, store().read());
        FakeKeystore.KEYS.clear();
        assertNull(store().read());
    }
}
