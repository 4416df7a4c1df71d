package org.countersign.client.internal.wire;

import java.io.Closeable;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import javax.annotation.Nullable;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import okhttp3.Authenticator;
import okhttp3.ConnectionPool;
import okhttp3.ConnectionSpec;
import okhttp3.CookieJar;
import okhttp3.Dispatcher;
import okhttp3.HttpUrl;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.TlsVersion;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Exchange;
import org.countersign.client.Service;

/** The connections to one service. Each request has ten seconds in addition to the service's allowed wait. */
public final class Transport implements Closeable {
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private final Service service;
    private final Consumer<Exchange> watch;
    private final IntConsumer connections;
    private final Pins pins;
    private final OkHttpClient base;
    private final OkHttpClient open;

    /**
     * Opens no connection yet.
     *
     * @param like the app's client, whose proxy, protocols and interceptors are used
     * @param watch is called after each exchange
     * @param connections is called with 1 when a connection to the client listener opens, and with -1 when it closes
     */
    public Transport(
            Service service, OkHttpClient like, ExecutorService threads, Consumer<Exchange> watch,
            IntConsumer connections) throws CountersignException {
        this.service = service;
        this.watch = watch;
        this.connections = connections;
        pins = new Pins(service.authority(), service.pins());
        Dispatcher dispatcher = new Dispatcher(threads);
        // The client itself limits the number of pending calls, and a renewal goes before them.
        dispatcher.setMaxRequests(1000);
        dispatcher.setMaxRequestsPerHost(1000);
        OkHttpClient.Builder builder = like.newBuilder()
            .dispatcher(dispatcher)
            .followRedirects(false).followSslRedirects(false)
            .authenticator(Authenticator.NONE).cookieJar(CookieJar.NO_COOKIES).cache(null)
            .connectTimeout(5, TimeUnit.SECONDS)
            .readTimeout(0, TimeUnit.SECONDS).writeTimeout(0, TimeUnit.SECONDS).callTimeout(0, TimeUnit.SECONDS);
        // Before those of the app.
        builder.networkInterceptors().add(0, Pending.guard());
        base = builder.build();
        open = client(null, change -> {});
    }

    private OkHttpClient client(@Nullable KeyManager identity, IntConsumer count) throws CountersignException {
        try {
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(identity == null ? null : new KeyManager[] {identity}, new TrustManager[] {pins}, null);
            // Android has TLS 1.3 since API level 29. Before, TLS 1.2 is used.
            boolean isModern = Arrays.asList(tls.getSupportedSSLParameters().getProtocols()).contains("TLSv1.3");
            ConnectionSpec spec = new ConnectionSpec.Builder(ConnectionSpec.MODERN_TLS)
                .tlsVersions(isModern ? TlsVersion.TLS_1_3 : TlsVersion.TLS_1_2).build();
            return base.newBuilder()
                .connectionSpecs(Collections.singletonList(spec)).connectionPool(new ConnectionPool())
                .socketFactory(new CountedSockets.Plain())
                .sslSocketFactory(new CountedSockets(tls.getSocketFactory(), count), pins)
                .build();
        } catch (GeneralSecurityException missing) {
            throw new CountersignException(Kind.UNREACHABLE, "No connection to the service: there is no TLS.", missing);
        }
    }

    OkHttpClient mutual(KeyManager identity) throws CountersignException {
        return client(identity, connections);
    }

    /** Sends a request to the client listener, or without an identity to the public one. */
    public Answer send(HttpCall call, @Nullable Identity identity) throws CountersignException {
        String origin = identity == null ? service.publicUrl() : service.clientUrl();
        // Without a slash, the path would continue the host's name.
        HttpUrl url = call.path.startsWith("/") ? HttpUrl.parse(origin + call.path) : null;
        if (url == null) {
            throw new CountersignException(
                Kind.UNREACHABLE, "No connection to the service: the URL is not valid. A path must begin with /.",
                null);
        }
        Duration deadline = DEADLINE.plus(call.wait);
        Pending pending = new Pending(identity == null ? null : identity.serial, deadline);
        Request.Builder request = new Request.Builder().url(url).tag(Pending.class, pending);
        // Otherwise a response would be compressed for the transport.
        request.header("Accept-Encoding", "identity");
        String type = null;
        for (java.util.Map.Entry<String, String> header : call.headers.entrySet()) {
            request.header(header.getKey(), header.getValue());
            if (header.getKey().equalsIgnoreCase("Content-Type")) type = header.getValue();
        }
        byte[] bytes = call.body;
        boolean needsBody = call.method.equals("POST") || call.method.equals("PUT") || call.method.equals("PATCH");
        if (bytes == null && needsBody) bytes = new byte[0];
        request.method(
            call.method, bytes == null ? null : RequestBody.create(type == null ? null : MediaType.parse(type), bytes));
        long start = System.nanoTime();
        Integer status = null;
        try {
            Answer answer = pending.send((identity == null ? open : identity.http).newCall(request.build()));
            status = answer.status;
            return answer;
        } finally {
            watch.accept(new Exchange(
                call.method, call.path.split("\\?", 2)[0], status, Duration.ofNanos(System.nanoTime() - start)));
        }
    }

    @Override
    public void close() {
        open.connectionPool().evictAll();
    }
}
