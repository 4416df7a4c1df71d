package org.countersign.client;

import java.io.Closeable;
import java.time.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import okhttp3.OkHttpClient;
import org.countersign.client.internal.Client;
import org.countersign.client.permissions.Permissions;
import org.countersign.client.proof.CardProof;
import org.countersign.client.proof.PhoneProof;
import org.countersign.client.store.DeviceKeys;
import org.countersign.client.store.KeyAttestor;
import org.countersign.client.store.Presence;
import org.countersign.client.store.SecretStore;
import org.countersign.client.streams.Streams;
import org.countersign.client.user.Account;
import org.countersign.client.user.Device;
import org.countersign.client.user.Proof;
import org.countersign.client.user.Session;

/**
 * A device of a Countersign service: it gets a certificate, signs users in, and makes calls in their session.
 *
 * <p>Use one for each service. Its state is kept in its store, so the app continues after a restart. Every call blocks
 * its thread until the response, so on Android make it on a background thread. Its twin {@code …Async} returns at
 * once. An interrupt of the thread, or cancelling the future, ends the wait and leaves nothing half-written.
 */
public final class Countersign implements Closeable {
    private final Client client;

    private Countersign(Builder builder) {
        if (builder.keys == null || builder.store == null) {
            throw new IllegalStateException("A client needs keys and a store: call keys and store before build.");
        }
        client = new Client(
            builder.service, builder.keys, builder.store, builder.presence, builder.clock, builder.http, builder.watch,
            builder.executor);
    }

    /** Begins with the service. Keys and store are required. */
    public static Builder builder(Service service) {
        return new Builder(service);
    }

    /** The device; null if it is not certified. */
    public @Nullable Device device() throws CountersignException {
        return client.device();
    }

    /** The session; null if no user is signed in. */
    public @Nullable Session session() throws CountersignException {
        return client.session();
    }

    /**
     * Certifies the device's key, unless the device is certified already. The certificate renews by itself.
     *
     * @param proof the proof that the service requires before it certifies
     * @throws CountersignException {@link Problem#INVALID_CSR} with reason {@code gate} for a missing or refused proof
     */
    public Device certify(Proof proof) throws CountersignException {
        return client.certification.certify(proof, null);
    }

    public CompletableFuture<Device> certifyAsync(Proof proof) {
        return client.async(() -> certify(proof));
    }

    /**
     * Certifies the device's key with an attestation, unless the device is certified already. The certificate renews by
     * itself.
     *
     * <p>Some devices never attest. If the service accepts another proof from them, call {@link #certify(Proof)} after
     * this, once.
     *
     * @param attestor makes the key: the client's {@code AndroidKeystoreKeys}, or a call of the app
     * @throws CountersignException {@link CountersignException.Kind#UNATTESTED} if the platform fails; {@link
     *     Problem#INVALID_CSR} with reason {@code gate} for a refused attestation
     */
    public Device certify(KeyAttestor attestor) throws CountersignException {
        return client.certification.certify(Proof.none(), attestor);
    }

    public CompletableFuture<Device> certifyAsync(KeyAttestor attestor) {
        return client.async(() -> certify(attestor));
    }

    /**
     * Signs a user in: requests a nonce, fetches an identity token for it, and opens a session. A challenged session is
     * renewed and keeps its id. Any other session of this device ends.
     *
     * @param source is kept, and called again when the session must be renewed
     */
    public Session signIn(IdentityTokenSource source) throws CountersignException {
        return client.signIn.signIn(source);
    }

    public CompletableFuture<Session> signInAsync(IdentityTokenSource source) {
        return client.async(() -> signIn(source));
    }

    /**
     * Requests the current session from the service, and attaches it to the connection. The store is read again, so a
     * session of another process of the app is found.
     */
    public Session resume() throws CountersignException {
        return client.signIn.resume();
    }

    public CompletableFuture<Session> resumeAsync() {
        return client.async(this::resume);
    }

    /** Ends the session. */
    public void signOut() throws CountersignException {
        client.signIn.signOut(false);
    }

    public CompletableFuture<Void> signOutAsync() {
        return client.asyncVoid(this::signOut);
    }

    /** Ends the session, and the user's sessions on other devices. */
    public void signOutEverywhere() throws CountersignException {
        client.signIn.signOut(true);
    }

    public CompletableFuture<Void> signOutEverywhereAsync() {
        return client.asyncVoid(this::signOutEverywhere);
    }

    /**
     * Makes a call in the user's session. If necessary it renews the session once, together with all waiting calls. If
     * a response was lost, it repeats calls that are safe to repeat.
     */
    public Reply call(Request request) throws CountersignException {
        return new Reply(client.answer(request.call()));
    }

    public CompletableFuture<Reply> callAsync(Request request) {
        return client.async(() -> call(request));
    }

    /**
     * A token for the app's backend, which verifies it without a call. It is cached until shortly before its expiry.
     *
     * @param audience the id of the session's provider, or a URL that is registered for it
     * @throws CountersignException {@link Problem#MALFORMED_REQUEST} with reason {@code invalid_target}, or
     *     {@link CountersignException.Kind#CLOCK_WRONG}
     */
    public AccessToken accessToken(String audience) throws CountersignException {
        return client.tokens.token(audience);
    }

    public CompletableFuture<AccessToken> accessTokenAsync(String audience) {
        return client.async(() -> accessToken(audience));
    }

    /** The user's own data and settings. */
    public Account account() {
        return new Account(client);
    }

    /** The proof of a phone number. */
    public PhoneProof phone() {
        return new PhoneProof(client);
    }

    /** The proof of an identity by a card. */
    public CardProof card() {
        return new CardProof(client);
    }

    /** Permissions to message other users. */
    public Permissions permissions() {
        return new Permissions(client);
    }

    /** Streams of messages with other users. */
    public Streams streams() {
        return new Streams(client);
    }

    /** The current state. It is {@link State#UNCERTIFIED} before the first call. */
    public State state() {
        return client.feed.state();
    }

    /** Gets the current state and every later one, on a thread of the client. */
    public void addStateListener(StateListener listener) {
        addStateListener(client.threads(), listener);
    }

    /**
     * Gets the current state and every later one.
     *
     * @param executor such as {@code context.getMainExecutor()}
     */
    public void addStateListener(Executor executor, StateListener listener) {
        client.feed.add(listener, executor);
    }

    public void removeStateListener(StateListener listener) {
        client.feed.remove(listener);
    }

    /** Ends the connections and the threads. The session continues at the next start. */
    @Override
    public void close() {
        client.close();
    }

    /** Builds a {@link Countersign}. It reads and sends nothing before the first call. */
    public static final class Builder {
        private final Service service;
        private @Nullable DeviceKeys keys;
        private @Nullable SecretStore store;
        private @Nullable Presence presence;
        private @Nullable Executor executor;
        private OkHttpClient http = new OkHttpClient();
        private Clock clock = Clock.systemUTC();
        private Consumer<Exchange> watch = exchange -> {};

        private Builder(Service service) {
            this.service = service;
        }

        /** Stores the device's private key. */
        public Builder keys(DeviceKeys keys) {
            this.keys = keys;
            return this;
        }

        /** Stores certificate and session. */
        public Builder store(SecretStore store) {
            this.store = store;
            return this;
        }

        /** The key for proofs of the user's presence, if the service requires them. */
        public Builder presence(Presence presence) {
            this.presence = presence;
            return this;
        }

        /** Runs {@code …Async} calls. Each blocks a thread of the executor. By default the client has 64 threads. */
        public Builder executor(Executor executor) {
            this.executor = executor;
            return this;
        }

        /**
         * Uses the app's settings for proxies, protocols, DNS and interceptors. An interceptor sees secrets. Time
         * limits, TLS, connections and redirects are those of this client.
         */
        public Builder httpClient(OkHttpClient http) {
            this.http = http;
            return this;
        }

        /** Another clock than the system's, for tests. */
        public Builder clock(Clock clock) {
            this.clock = clock;
            return this;
        }

        /** Called after each exchange with the service, for logs, on the thread that made it. */
        public Builder watch(Consumer<Exchange> watch) {
            this.watch = watch;
            return this;
        }

        public Countersign build() {
            return new Countersign(this);
        }
    }
}
