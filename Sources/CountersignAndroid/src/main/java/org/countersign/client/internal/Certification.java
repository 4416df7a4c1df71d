package org.countersign.client.internal;

import java.security.PublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Problem;
import org.countersign.client.internal.wire.Answer;
import org.countersign.client.internal.wire.DeviceToken;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.work.Flight;
import org.countersign.client.store.KeyAttestor;
import org.countersign.client.store.StorageFailure;
import org.countersign.client.user.Device;
import org.countersign.client.user.Proof;

/** Certifies the device's key, and renews the certificate after two thirds of its validity. */
public final class Certification {
    /** The service repeats the certificate of a request for ten minutes. */
    private static final long REPEATED_SECONDS = 540;
    private final Client client;
    private @Nullable Flight<Device> certifying;
    private @Nullable Flight<Void> renewing;
    private @Nullable ScheduledFuture<?> timer;
    /** When to renew, by the device's clock: a timer of Android does not run while the device sleeps. */
    private Instant nextRenewal = Instant.MAX;

    Certification(Client client) {
        this.client = client;
    }

    /** Certifies the device, unless it is certified already. */
    public Device certify(Proof proof, @Nullable KeyAttestor attestor) throws CountersignException {
        client.load();
        Flight<Device> flight;
        synchronized (client.lock) {
            Record.CertifiedKey device = client.record.device;
            if (device != null && client.time.now().isBefore(device.device.notAfter())) return device.device;
            if (certifying == null) {
                Flight<Device> started = new Flight<>();
                certifying = started;
                client.flights.execute(() -> started.run(() -> certification(proof, attestor), () -> {
                    synchronized (client.lock) {
                        certifying = null;
                    }
                }));
            }
            flight = certifying;
        }
        return flight.await();
    }

    private Device certification(Proof proof, @Nullable KeyAttestor attestor) throws CountersignException {
        boolean isAgain = client.record().pending != null;
        try {
            return certifyOnce(proof, attestor);
        } catch (CountersignException failure) {
            // The key or the challenge is from an earlier attempt, with a response that was lost long ago.
            boolean mayBeOld = !"gate".equals(failure.reason()) || attestor != null && isAgain;
            boolean isOld = Problem.INVALID_CSR.equals(failure.code()) && mayBeOld && client.record().pending != null;
            if (!isOld) throw failure;
            synchronized (client.lock) {
                client.keep(client.record.with((Record.Pending) null));
            }
            return certifyOnce(proof, attestor);
        }
    }

    private Device certifyOnce(Proof proof, @Nullable KeyAttestor attestor) throws CountersignException {
        Record.Pending pending = pendingRequest(attestor);
        Record.CertifiedKey certified = issue(pending, proof);
        client.keep(new Record(null, certified, null));
        client.exchanges.replaceIdentity();
        schedule(false);
        try {
            removeFormerKeys();
        } catch (CountersignException ignored) {
            // An unused key does no harm. The next certification removes it.
        }
        return certified.device;
    }

    private void removeFormerKeys() throws CountersignException {
        client.keys.removeAllExcept(client.record().keyNames());
        if (client.presence != null) client.presence.keys().removeAllExcept(client.record().keyNames());
    }

    /** The request to send: the previous one, if the service still repeats its response, or one with another key. */
    private Record.Pending pendingRequest(@Nullable KeyAttestor attestor) throws CountersignException {
        Record.Pending former = client.record().pending;
        if (former != null) {
            long age = Duration.between(former.madeAt, client.time.clock.instant()).getSeconds();
            boolean hasPresence = former.presenceKeyName != null;
            boolean isAlike = hasPresence == (client.presence != null)
                && (former.attestation != null) == (attestor != null);
            if (age >= 0 && age < REPEATED_SECONDS && isAlike) return former;
        }
        removeFormerKeys();
        String name = UUID.randomUUID().toString();
        UUID deviceId = UUID.randomUUID();
        Attestation attestation = attestor == null ? null : attest(name, deviceId, attestor);
        PublicKey key = attestor == null ? client.keys.make(name) : client.keys.publicKey(name);
        if (key == null) throw CountersignException.storage(StorageFailure.DAMAGED, null);
        String presenceKey = client.presence == null ? null : client.presence.make();
        String csr = new DeviceToken(client.keys, name).certificationRequest(deviceId, key);
        Record.Pending pending = new Record.Pending(
            name, presenceKey, csr, attestation, client.time.clock.instant());
        synchronized (client.lock) {
            client.keep(client.record.with(pending));
        }
        return pending;
    }

    /** Makes the device's key by its attestor. */
    private Attestation attest(String keyName, UUID deviceId, KeyAttestor attestor) throws CountersignException {
        Answer answer = client.load().send(HttpCall.of("POST", "/attestation-challenges").repeatable(), null);
        client.time.note(answer);
        Problem problem = answer.problem();
        if (problem != null) throw CountersignException.refused(problem);
        String challenge = answer.json().text("challenge");
        try {
            byte[] digest = Attestation.digest(challenge, deviceId.toString());
            return Attestation.of(challenge, attestor.attest(keyName, digest));
        } catch (InterruptedException interrupt) {
            throw CountersignException.interrupted(interrupt);
        } catch (Exception failure) {
            throw new CountersignException(Kind.UNATTESTED, "The platform did not attest the key: " + failure, failure);
        }
    }

    /** The service answers identical bytes with the same certificate, so they may be sent again. */
    private Record.CertifiedKey issue(Record.Pending pending, Proof proof) throws CountersignException {
        Map<String, Object> members = HttpCall.members("csr", pending.csr);
        if (client.presence != null && pending.presenceKeyName != null) {
            members.put("presence_key", client.presence.publicKey(pending.presenceKeyName));
        }
        if (pending.attestation != null) members.put("attestation", pending.attestation.members());
        members.putAll(proof.members());
        HttpCall call = HttpCall.json("POST", "/certificates", members).repeatable();
        for (int attempt = 0; ; attempt++) {
            CountersignException failure;
            try {
                Answer answer = client.load().send(call, null);
                client.time.note(answer);
                Problem problem = answer.problem();
                if (problem == null) return certified(answer.json(), pending.keyName, pending.presenceKeyName);
                failure = CountersignException.refused(problem);
            } catch (CountersignException failed) {
                failure = failed;
            }
            Problem problem = failure.problem();
            boolean isLost = failure.kind() == Kind.UNREACHABLE || failure.kind() == Kind.UNANSWERED;
            if (attempt >= 2 || !isLost && (problem == null || !problem.isPassing())) throw failure;
            Client.sleep(200L << attempt);
        }
    }

    private static Record.CertifiedKey certified(Json json, String keyName, @Nullable String presenceKeyName)
            throws CountersignException {
        Device device = new Device(
            json.id("device_id"), json.text("serial"), json.date("not_after"), json.date("renew_after"));
        return new Record.CertifiedKey(keyName, presenceKeyName, json.text("certificate"), device);
    }

    /** Whether the record has another certificate than the one of a serial number. */
    boolean isOther(@Nullable String serial) {
        synchronized (client.lock) {
            Record.CertifiedKey device = client.record.device;
            return device != null && !device.device.serial().equals(serial);
        }
    }

    /** Checks the certificate's age before a call. */
    void requireCertificate() throws CountersignException {
        synchronized (client.lock) {
            Record.CertifiedKey device = client.record.device;
            if (device == null) throw Client.uncertified();
            if (!client.time.now().isBefore(device.device.notAfter())) {
                client.forgetCertificate(device.device.serial());
                throw Client.uncertified();
            }
            if (!client.time.clock.instant().isBefore(nextRenewal)) renewIfDue();
        }
    }

    /** Renews the certificate by itself, while the client exists. */
    void schedule(boolean afterFailure) {
        synchronized (client.lock) {
            if (timer != null) timer.cancel(false);
            timer = null;
            nextRenewal = Instant.MAX;
            Record.CertifiedKey device = client.record.device;
            if (device == null || client.timer.isShutdown()) return;
            Instant now = client.time.now();
            long wait = Duration.between(now, device.device.renewAfter()).toMillis();
            if (afterFailure) {
                // It is retried ten times until the expiry, at most once a second and at least once an hour.
                long tenth = Duration.between(now, device.device.notAfter()).toMillis() / 10;
                wait = Math.min(Math.max(tenth, 1000), 3_600_000);
            }
            wait = Math.min(Math.max(wait, 1000), 86_400_000);
            nextRenewal = client.time.clock.instant().plusMillis(wait);
            timer = client.timer.schedule(this::renewIfDue, wait, TimeUnit.MILLISECONDS);
        }
    }

    /** One renewal at a time. A failed renewal leaves the current certificate unchanged. */
    private void renewIfDue() {
        synchronized (client.lock) {
            Record.CertifiedKey device = client.record.device;
            if (renewing != null || device == null) return;
            if (client.time.now().isBefore(device.device.renewAfter())) {
                schedule(false);
                return;
            }
            Flight<Void> flight = new Flight<>();
            renewing = flight;
            client.flights.execute(() -> flight.run(() -> {
                boolean isRenewed = false;
                try {
                    renew(device);
                    isRenewed = true;
                } finally {
                    schedule(!isRenewed);
                }
                return null;
            }, () -> {
                synchronized (client.lock) {
                    renewing = null;
                }
            }));
        }
    }

    /** Requests another certificate for the same key, so that the session continues. */
    private void renew(Record.CertifiedKey present) throws CountersignException {
        HttpCall call = HttpCall.json("POST", "/certificates/renewal", HttpCall.members()).repeatable();
        Answer answer = client.exchange(call);
        Problem problem = answer.problem();
        if (problem != null) {
            if (problem.code().equals(Problem.CERTIFICATE_REVOKED)) client.forgetCertificate(answer.serial);
            throw CountersignException.refused(problem);
        }
        Record.CertifiedKey renewed = certified(answer.json(), present.keyName, present.presenceKeyName);
        synchronized (client.lock) {
            boolean isPresent = client.record.device != null
                && client.record.device.certificate.equals(present.certificate);
            if (!isPresent) return;
            client.keep(client.record.with(renewed));
        }
        client.exchanges.replaceIdentity();
    }
}
