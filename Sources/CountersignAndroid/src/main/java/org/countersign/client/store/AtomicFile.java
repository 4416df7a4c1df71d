package org.countersign.client.store;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;

/**
 * Files of one user, mode 0600, in directories of mode 0700. A file is replaced by a rename, so after a crash either
 * the old or the new file exists completely. An interrupt of the thread changes nothing: a write is completed.
 */
final class AtomicFile {
    /** The maximum size in bytes. A longer file was not written by this library. */
    private static final int LONGEST = 1 << 20;
    private static final long OLD_DRAFT_MILLISECONDS = 60_000;

    private AtomicFile() {}

    /** The content; null if there is no such file. */
    static @Nullable byte[] read(File file) throws CountersignException {
        if (!file.exists()) return null;
        // A channel would be closed by an interrupt, a stream is not.
        try (InputStream stream = new FileInputStream(file)) {
            ByteArrayOutputStream content = new ByteArrayOutputStream();
            byte[] part = new byte[16_384];
            for (int count = stream.read(part); count >= 0; count = stream.read(part)) {
                content.write(part, 0, count);
                if (content.size() > LONGEST) throw CountersignException.storage(StorageFailure.DAMAGED, null);
            }
            return content.toByteArray();
        } catch (CountersignException tooLong) {
            throw tooLong;
        } catch (IOException error) {
            if (!file.exists()) return null;
            throw CountersignException.storage(StorageFailure.of(error), error);
        }
    }

    /** Writes a draft durably, and renames it. */
    static void write(byte[] content, File file) throws CountersignException {
        File folder = file.getAbsoluteFile().getParentFile();
        File draft = new File(folder, draftPrefix(file) + UUID.randomUUID());
        try {
            Files.createDirectories(folder.toPath(), mode("rwx------"));
            fill(draft.toPath(), content);
            Files.move(draft.toPath(), file.toPath(), StandardCopyOption.ATOMIC_MOVE);
            sync(folder.toPath());
        } catch (IOException error) {
            throw CountersignException.storage(StorageFailure.of(error), error);
        } finally {
            // After a rename there is none.
            draft.delete();
        }
    }

    private static void fill(Path draft, byte[] content) throws IOException {
        Files.createFile(draft, mode("rw-------"));
        try (FileOutputStream stream = new FileOutputStream(draft.toFile())) {
            stream.write(content);
            stream.getFD().sync();
        }
    }

    /** Makes the rename durable too. */
    private static void sync(Path folder) throws IOException {
        boolean wasInterrupted = Thread.interrupted();
        try {
            for (int attempt = 0; attempt < 3; attempt++) {
                try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                    channel.force(true);
                    return;
                } catch (ClosedByInterruptException interrupt) {
                    wasInterrupted |= Thread.interrupted();
                } catch (IOException notSupported) {
                    // Not every system synchronizes directories. The file itself was synchronized.
                    return;
                }
            }
        } finally {
            if (wasInterrupted) Thread.currentThread().interrupt();
        }
    }

    private static FileAttribute<?>[] mode(String permissions) {
        boolean hasModes = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
        if (!hasModes) return new FileAttribute<?>[0];
        return new FileAttribute<?>[] {
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))};
    }

    /** Deletes a file, if it exists. */
    static void remove(File file) throws CountersignException {
        try {
            Files.deleteIfExists(file.toPath());
        } catch (IOException error) {
            throw CountersignException.storage(StorageFailure.of(error), error);
        }
    }

    /** Deletes drafts that remained after crashes. A recent draft may belong to another process that is writing. */
    static void removeDrafts(File file) {
        File[] drafts = file.getAbsoluteFile().getParentFile()
            .listFiles((folder, name) -> name.startsWith(draftPrefix(file)));
        long oldest = System.currentTimeMillis() - OLD_DRAFT_MILLISECONDS;
        for (File draft : drafts == null ? new File[0] : drafts) if (draft.lastModified() < oldest) draft.delete();
    }

    private static String draftPrefix(File file) {
        return "." + file.getName() + ".draft-";
    }
}
