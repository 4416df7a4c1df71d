package org.countersign.client.internal;

import java.io.Closeable;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.annotation.Nullable;
import okhttp3.OkHttpClient;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Exchange;
import org.countersign.client.Service;
import org.countersign.client.State;
import org.countersign.client.internal.wire.Answer;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Identity;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.wire.Transport;
import org.countersign.client.internal.work.Async;
import org.countersign.client.internal.work.StateFeed;
import org.countersign.client.internal.work.Threads;
import org.countersign.client.store.DeviceKeys;
import org.countersign.client.store.Presence;
import org.countersign.client.store.SecretStore;
import org.countersign.client.user.Device;
import org.countersign.client.user.Nonce;
import org.countersign.client.user.Session;

/** The state of a device, and its exchanges with the service. All fields that change are guarded by the lock. */
public final class Client implements Closeable {
    final Service service;
    final DeviceKeys keys;
    final @Nullable Presence presence;
    final ServiceTime time;
    final ExecutorService flights = Threads.flights();
    final ScheduledExecutorService timer = Threads.timer();
    final Object lock = new Object();
    public final StateFeed feed = new StateFeed(flights);
    public final SignIn signIn = new SignIn(this);
    public final Certification certification = new Certification(this);
    public final Tokens tokens = new Tokens(this);
    private final Calls calls = new Calls(this);
    final Exchanges exchanges = new Exchanges(this);
    private final SecretStore store;
    private final OkHttpClient like;
    private final Consumer<Exchange> watch;
    private final Async async;

    Record record = Record.EMPTY;
    private @Nullable Transport transport;
    /** The certificate and key of the record for handshakes. */
    @Nullable Identity identity;

    /** Reads and sends nothing yet. */
    public Client(
            Service service, DeviceKeys keys, SecretStore store, @Nullable Presence presence, Clock clock,
            OkHttpClient like, Consumer<Exchange> watch, @Nullable Executor executor) {
        this.service = service;
        this.keys = keys;
        this.store = store;
        this.presence = presence;
        this.like = like;
        this.watch = watch;
        async = new Async(executor);
        time = new ServiceTime(clock);
    }

    /** Reads the store at the first call. */
    Transport load() throws CountersignException {
        synchronized (lock) {
            if (flights.isShutdown()) {
                throw new IllegalStateException("The client was closed: build another one.");
            }
            if (transport != null) return transport;
            Transport opened = new Transport(
                service, like, flights, watch, change -> feed.update(facts -> facts.connections += change));
            reload(opened);
            transport = opened;
            certification.schedule(false);
            return opened;
        }
    }

    /** Reads the store again: another process of the app may have written it. */
    public void reload() throws CountersignException {
        synchronized (lock) {
            reload(load());
        }
    }

    private void reload(Transport over) throws CountersignException {
        byte[] bytes = store.read();
        Record found = bytes == null ? Record.EMPTY : Record.read(bytes);
        boolean isOther = record.device == null || found.device == null
            || !record.device.certificate.equals(found.device.certificate);
        if (isOther || identity == null) {
            identity = found.device == null ? null : open(found.device, over);
        }
        adopt(found);
    }

    Identity open(Record.CertifiedKey device, Transport over) throws CountersignException {
        return Identity.open(over, device.device.serial(), device.certificate, keys, device.keyName);
    }

    /** The device; null if it is not certified. */
    public @Nullable Device device() throws CountersignException {
        Record.CertifiedKey device = record().device;
        return device == null ? null : device.device;
    }

    /** The session; null if no user is signed in. */
    public @Nullable Session session() throws CountersignException {
        Record.Secret session = record().session;
        return session == null ? null : session.session;
    }

    /** The threads of the client. */
    public Executor threads() {
        return flights;
    }

    /** The stored state. */
    Record record() throws CountersignException {
        synchronized (lock) {
            load();
            return record;
        }
    }

    /** Stores a changed record before it is used. */
    void keep(Record changed) throws CountersignException {
        synchronized (lock) {
            store.write(changed.bytes());
            adopt(changed);
        }
    }

    /** Uses a changed record even if it cannot be stored, because the previous one is no longer valid. */
    void keepIfPossible(UnaryOperator<Record> change) {
        synchronized (lock) {
            Record changed = change.apply(record);
            try {
                keep(changed);
            } catch (CountersignException notStored) {
                adopt(changed);
            }
        }
    }

    private void adopt(Record changed) {
        boolean isSameSession = changed.session != null && record.hasToken(changed.session.token);
        if (!isSameSession) tokens.forget();
        record = changed;
        State session = changed.session == null ? State.CONNECTED_UNAUTHENTICATED
            : changed.session.isChallenged ? State.CONNECTED_CHALLENGED : State.CONNECTED_AUTHENTICATED;
        feed.update(facts -> {
            facts.isCertified = changed.device != null;
            facts.session = session;
        });
    }

    /** Deletes a certificate that the service does not accept any longer, with its session. */
    void forgetCertificate(@Nullable String serial) {
        synchronized (lock) {
            if (record.device == null || !record.device.device.serial().equals(serial)) return;
            keepIfPossible(before -> Record.EMPTY);
            identity = null;
        }
    }

    static CountersignException uncertified() {
        return new CountersignException(
            Kind.UNCERTIFIED, "The device has no valid certificate: call certify.", null);
    }

    static CountersignException signedOut() {
        return new CountersignException(Kind.SIGNED_OUT, "There is no session: call signIn.", null);
    }

    /** Makes a call in the user's session, and returns its response with a status below 400. */
    public Answer answer(HttpCall call) throws CountersignException {
        return calls.answer(call);
    }

    /** Makes a call, and reads its response. */
    public Json perform(HttpCall call) throws CountersignException {
        return answer(call).json();
    }

    /** One exchange with the client listener, repeated if that is safe. */
    Answer exchange(HttpCall call) throws CountersignException {
        return exchanges.exchange(call);
    }

    /** Waits for a time. */
    public void sleepFor(Duration time) throws CountersignException {
        sleep(time.toMillis());
    }

    static void sleep(long milliseconds) throws CountersignException {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException interrupt) {
            throw CountersignException.interrupted(interrupt);
        }
    }

    /**
     * Recognizes the user, and signs a proof of presence around a nonce; null if this device has no key for it.
     *
     * @param nonce from a refusal
     */
    public @Nullable String presenceProof(String number, @Nullable Nonce nonce) throws CountersignException {
        Record.CertifiedKey device = record().device;
        if (presence == null || device == null || device.presenceKeyName == null) return null;
        Nonce fresh = nonce == null ? signIn.opening.takeNonce() : nonce;
        return presence.proof(number, fresh.value(), device.presenceKeyName, time.now());
    }

    /** Makes a call on another thread. Cancelling the future interrupts it. */
    public <T> CompletableFuture<T> async(Callable<T> call) {
        return async.start(call);
    }

    /** Does something on another thread. */
    public CompletableFuture<Void> asyncVoid(Async.Action action) {
        return async.start(() -> {
            action.run();
            return null;
        });
    }

    /** Ends the connections and the threads. */
    @Override
    public void close() {
        synchronized (lock) {
            if (identity != null) identity.close();
            if (transport != null) transport.close();
        }
        timer.shutdownNow();
        flights.shutdown();
        async.close();
    }
}
