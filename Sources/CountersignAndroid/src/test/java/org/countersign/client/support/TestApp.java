package org.countersign.client.support;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import org.countersign.client.Countersign;
import org.countersign.client.CountersignException;
import org.countersign.client.Exchange;
import org.countersign.client.Request;
import org.countersign.client.Service;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.FileStore;
import org.countersign.client.store.Presence;
import org.junit.jupiter.api.Assertions;

/** An app on a device of its own: where it stores things, and what it exchanges. */
public final class TestApp implements AutoCloseable {
    public final Path directory;
    public final Countersign client;
    private final List<Exchange> exchanges = new CopyOnWriteArrayList<>();

    public TestApp(Service service) {
        this(service, Place.make());
    }

    /** An app on the device of another one. */
    public TestApp(Service service, Path directory) {
        this(service, directory, null, 0);
    }

    /** An app whose clock is so many seconds ahead. */
    public TestApp(Service service, Path directory, Presence presence, long secondsAhead) {
        this(service, directory, presence, secondsAhead, http());
    }

    /** An app with an HTTP client of its own. */
    public TestApp(Service service, Path directory, Presence presence, long secondsAhead, OkHttpClient http) {
        this.directory = directory;
        Countersign.Builder builder = Countersign.builder(service)
            .keys(new FileKeys(directory.resolve("keys").toFile()))
            .store(new FileStore(directory.resolve("secret.json").toFile()))
            .httpClient(http)
            .clock(Clock.offset(Clock.systemUTC(), Duration.ofSeconds(secondsAhead)))
            .watch(exchanges::add);
        if (presence != null) builder.presence(presence);
        client = builder.build();
    }

    /** A client with the version of HTTP that is tried. */
    public static OkHttpClient http() {
        boolean isOld = "1.1".equals(System.getProperty("countersign.http"));
        List<Protocol> protocols = isOld
            ? Arrays.asList(Protocol.HTTP_1_1) : Arrays.asList(Protocol.HTTP_2, Protocol.HTTP_1_1);
        return new OkHttpClient.Builder().protocols(protocols).build();
    }

    /** What was exchanged, in the order of the responses. */
    public List<Exchange> exchanges() {
        return exchanges;
    }

    /** How often a path was requested. */
    public long count(String path) {
        return exchanges.stream().filter(one -> one.path().equals(path)).count();
    }

    /** How often a path was requested with a response of this status. */
    public long count(String path, int status) {
        return exchanges.stream()
            .filter(one -> one.path().equals(path) && one.status() != null && one.status() == status).count();
    }

    /** A protected action, as an app makes it. */
    public void act() throws CountersignException {
        client.call(Request.get("/sessions/current"));
    }

    /** Acts until that is refused, as it is a moment after an admin's command. */
    public CountersignException refusal() throws Exception {
        for (int attempt = 0; attempt < 2400; attempt++) {
            try {
                act();
            } catch (CountersignException refused) {
                return refused;
            }
            Thread.sleep(50);
        }
        throw new AssertionError("no refusal");
    }

    /** Looks again and again until something is so, for two minutes at most: a busy machine is slow. */
    public static void eventually(Callable<Boolean> condition) throws Exception {
        for (int attempt = 0; attempt < 6000; attempt++) {
            if (condition.call()) return;
            Thread.sleep(20);
        }
        throw new AssertionError("what was waited for did not come");
    }

    /** A call that is expected to fail. */
    public interface Failing {
        void run() throws Exception;
    }

    /** Expects a failure of a kind. */
    public static CountersignException expect(CountersignException.Kind kind, Failing call) {
        CountersignException failure = Assertions.assertThrows(CountersignException.class, call::run);
        Assertions.assertEquals(kind, failure.kind(), failure.toString());
        return failure;
    }

    /** Expects a refusal of the service with a code. */
    public static CountersignException expect(String code, Failing call) {
        CountersignException failure = Assertions.assertThrows(CountersignException.class, call::run);
        Assertions.assertEquals(code, failure.code(), failure.toString());
        return failure;
    }

    @Override
    public void close() {
        client.close();
    }
}
