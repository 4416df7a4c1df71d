package org.countersign.client.store;

import java.io.File;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;

/** Stores the secret in one file, mode 0600, for programs on a JVM. On Android use {@code EncryptedFileStore}. */
public final class FileStore implements SecretStore {
    private final File file;

    /** Uses a file. Its directory is created at the first write. */
    public FileStore(File file) {
        this.file = file;
    }

    @Override
    public @Nullable byte[] read() throws CountersignException {
        AtomicFile.removeDrafts(file);
        return AtomicFile.read(file);
    }

    @Override
    public void write(byte[] secret) throws CountersignException {
        AtomicFile.write(secret, file);
    }

    @Override
    public void remove() throws CountersignException {
        AtomicFile.remove(file);
    }
}
