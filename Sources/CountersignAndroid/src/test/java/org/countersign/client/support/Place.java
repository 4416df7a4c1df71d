package org.countersign.client.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Comparator;
import java.util.stream.Stream;

/** Where tests find the repository and the service's binary, and directories that are deleted at the end. */
public final class Place {
    /** The repository. */
    public static final Path ROOT = Paths.get(required("countersign.root"));
    /** The service. */
    public static final String BINARY = required("countersign.binary");

    private Place() {}

    private static String required(String name) {
        String value = System.getProperty(name);
        if (value == null) throw new IllegalStateException(name + " is not set: run make android-test.");
        return value;
    }

    /** Makes an empty directory. */
    public static Path make() {
        try {
            Path made = Files.createTempDirectory("countersign-android-");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(made)));
            return made;
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Deletes a directory with its content. */
    public static void delete(Path directory) {
        try (Stream<Path> all = Files.walk(directory)) {
            all.sorted(Comparator.reverseOrder()).forEach(one -> one.toFile().delete());
        } catch (IOException | UncheckedIOException ignored) {
            // A process that ends may still write there.
        }
    }

    /** Copies a directory with its content. */
    static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path one : (Iterable<Path>) all::iterator) {
                Files.copy(one, to.resolve(from.relativize(one).toString()));
            }
        }
    }
}
