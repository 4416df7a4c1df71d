package org.countersign.client.internal;

import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.wire.JsonText;
import org.countersign.client.store.StorageFailure;
import org.countersign.client.user.Assurance;
import org.countersign.client.user.Device;
import org.countersign.client.user.Session;

/**
 * The content of the secret store, as one JSON document. Every change is one write, so a crash leaves the state before
 * or after it.
 */
final class Record {
    static final Record EMPTY = new Record(null, null, null);
    /** A certification request that may have been sent. Its bytes are sent again: they bring the same certificate. */
    final @Nullable Pending pending;
    final @Nullable CertifiedKey device;
    final @Nullable Secret session;

    Record(@Nullable Pending pending, @Nullable CertifiedKey device, @Nullable Secret session) {
        this.pending = pending;
        this.device = device;
        this.session = session;
    }

    /** A request for a certificate. */
    static final class Pending {
        final String keyName;
        final @Nullable String presenceKeyName;
        final String csr;
        /** The attestation of the key, for a service that requires one. */
        final @Nullable Attestation attestation;
        final Instant madeAt;

        Pending(
                String keyName, @Nullable String presenceKeyName, String csr, @Nullable Attestation attestation,
                Instant madeAt) {
            this.keyName = keyName;
            this.presenceKeyName = presenceKeyName;
            this.csr = csr;
            this.attestation = attestation;
            this.madeAt = madeAt;
        }
    }

    /** A certificate and the name of its key. */
    static final class CertifiedKey {
        final String keyName;
        /** The presence key that was registered with the first certificate, if any. */
        final @Nullable String presenceKeyName;
        final String certificate;
        final Device device;

        CertifiedKey(String keyName, @Nullable String presenceKeyName, String certificate, Device device) {
            this.keyName = keyName;
            this.presenceKeyName = presenceKeyName;
            this.certificate = certificate;
            this.device = device;
        }
    }

    /** A session and its token. */
    static final class Secret {
        final Session session;
        final String token;
        /** Whether the token is only valid for a renewal. */
        final boolean isChallenged;

        Secret(Session session, String token, boolean isChallenged) {
            this.session = session;
            this.token = token;
            this.isChallenged = isChallenged;
        }
    }

    Record with(@Nullable Pending pending) {
        return new Record(pending, device, session);
    }

    Record with(@Nullable Secret session) {
        return new Record(pending, device, session);
    }

    Record with(CertifiedKey device) {
        return new Record(pending, device, session);
    }

    /** The names of the keys in use. */
    Set<String> keyNames() {
        Set<String> names = new HashSet<>();
        if (pending != null) {
            names.add(pending.keyName);
            names.add(pending.presenceKeyName);
        }
        if (device != null) {
            names.add(device.keyName);
            names.add(device.presenceKeyName);
        }
        names.removeIf(Objects::isNull);
        return names;
    }

    boolean hasToken(String token) {
        return session != null && session.token.equals(token);
    }

    byte[] bytes() {
        Map<String, Object> waiting = pending == null ? null : HttpCall.members(
            "key", pending.keyName, "presence_key", pending.presenceKeyName, "csr", pending.csr,
            "attestation", pending.attestation == null ? null : pending.attestation.members(),
            "made_at", pending.madeAt.toString());
        Map<String, Object> certified = device == null ? null : HttpCall.members(
            "key", device.keyName, "presence_key", device.presenceKeyName, "certificate", device.certificate,
            "id", device.device.id().toString(), "serial", device.device.serial(),
            "not_after", device.device.notAfter().toString(), "renew_after", device.device.renewAfter().toString());
        Map<String, Object> secret = session == null ? null : HttpCall.members(
            "id", session.session.id().toString(), "user_id", session.session.userId().toString(),
            "address", session.session.address(), "expires_at", session.session.expiresAt().toString(),
            "assurance", session.session.assurance().value(), "token", session.token,
            "is_challenged", session.isChallenged);
        return JsonText.bytes(HttpCall.members("pending", waiting, "device", certified, "session", secret));
    }

    /** Reads what {@link #bytes} wrote. */
    static Record read(byte[] bytes) throws CountersignException {
        try {
            Json json = Json.parse(bytes);
            Json pending = json.optionalObject("pending");
            Json device = json.optionalObject("device");
            Json session = json.optionalObject("session");
            return new Record(
                pending == null ? null : pending(pending), device == null ? null : device(device),
                session == null ? null : session(session));
        } catch (CountersignException unreadable) {
            throw CountersignException.storage(StorageFailure.DAMAGED, unreadable);
        }
    }

    private static Pending pending(Json json) throws CountersignException {
        Json attestation = json.optionalObject("attestation");
        return new Pending(
            json.text("key"), json.optionalText("presence_key"), json.text("csr"),
            attestation == null ? null : Attestation.read(attestation), json.date("made_at"));
    }

    private static CertifiedKey device(Json json) throws CountersignException {
        UUID id = json.id("id");
        Device device = new Device(id, json.text("serial"), json.date("not_after"), json.date("renew_after"));
        return new CertifiedKey(
            json.text("key"), json.optionalText("presence_key"), json.text("certificate"), device);
    }

    private static Secret session(Json json) throws CountersignException {
        Session session = new Session(
            json.id("id"), json.id("user_id"), json.text("address"), json.date("expires_at"),
            Assurance.of(json.text("assurance")));
        return new Secret(session, json.text("token"), json.flag("is_challenged"));
    }
}
