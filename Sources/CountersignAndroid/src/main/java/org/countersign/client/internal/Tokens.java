package org.countersign.client.internal;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.countersign.client.AccessToken;
import org.countersign.client.CountersignException;
import org.countersign.client.Problem;
import org.countersign.client.internal.wire.Answer;
import org.countersign.client.internal.wire.DeviceToken;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.work.Flight;

/** Tokens for the app's backend, cached until shortly before their expiry. */
public final class Tokens {
    private static final int MOST = 16;
    private static final int SPARE_SECONDS = 15;
    private final Client client;
    private final Map<String, AccessToken> kept = new HashMap<>();
    /** Pending exchanges, by user and audience. */
    private final Map<String, Flight<AccessToken>> running = new HashMap<>();

    Tokens(Client client) {
        this.client = client;
    }

    /** The session changed. The caller has the lock. */
    void forget() {
        kept.clear();
    }

    /** A token for an audience, by one exchange for all threads that want it. */
    public AccessToken token(String audience) throws CountersignException {
        client.load();
        Flight<AccessToken> flight;
        synchronized (client.lock) {
            AccessToken found = kept.get(audience);
            if (found != null && found.expiresAt().minusSeconds(SPARE_SECONDS).isAfter(client.time.now())) return found;
            Record.Secret session = client.record.session;
            if (session == null) throw Client.signedOut();
            UUID user = session.session.userId();
            // By user, so that a user who signs in later gets a separate token.
            flight = running.computeIfAbsent(user + " " + audience, key -> begin(key, audience, user));
        }
        return flight.await();
    }

    private Flight<AccessToken> begin(String key, String audience, UUID user) {
        Flight<AccessToken> flight = new Flight<>();
        client.flights.execute(() -> flight.run(() -> exchange(audience, user), () -> {
            synchronized (client.lock) {
                running.remove(key);
            }
        }));
        return flight;
    }

    private AccessToken exchange(String audience, UUID user) throws CountersignException {
        boolean hasRenewed = false;
        while (true) {
            Record.Secret session = client.record().session;
            Record.CertifiedKey device = client.record().device;
            if (session == null || !session.session.userId().equals(user)) throw Client.signedOut();
            if (device == null) throw Client.uncertified();
            DeviceToken signer = new DeviceToken(client.keys, device.keyName);
            Answer answer = client.exchange(call(audience, session, signer));
            Problem problem = answer.problem();
            if (problem == null) return read(answer.json(), audience, session, signer);
            CountersignException wrongClock = client.time.error();
            if (problem.code().equals(Problem.INVALID_DPOP_PROOF) && wrongClock != null) throw wrongClock;
            if (problem.code().equals(Problem.CERTIFICATE_REVOKED)) {
                if (client.certification.isOther(answer.serial)) continue;
                client.forgetCertificate(answer.serial);
            }
            if (!problem.asksForIdentity() || hasRenewed) throw CountersignException.refused(problem);
            hasRenewed = true;
            client.signIn.renew(session, problem);
        }
    }

    private HttpCall call(String audience, Record.Secret session, DeviceToken signer) throws CountersignException {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange");
        form.put("subject_token", session.token);
        form.put("subject_token_type", "urn:ietf:params:oauth:token-type:access_token");
        form.put("audience", audience);
        String url = client.service.clientUrl() + "/token";
        return HttpCall.form("/token", form)
            .with("DPoP", signer.proof("POST", url, null, client.time.clock.instant()));
    }

    private AccessToken read(Json json, String audience, Record.Secret session, DeviceToken signer)
            throws CountersignException {
        AccessToken token = new AccessToken(
            json.text("access_token"), client.time.now().plusSeconds(json.number("expires_in")), signer,
            client.time.clock);
        synchronized (client.lock) {
            if (client.record.hasToken(session.token)) {
                if (kept.size() >= MOST) kept.clear();
                kept.put(audience, token);
            }
        }
        return token;
    }
}
