package org.countersign.client.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.IdentityTokenSource;
import org.countersign.client.Problem;
import org.countersign.client.internal.wire.Answer;
import org.countersign.client.internal.wire.DeviceToken;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.user.Assurance;
import org.countersign.client.user.Nonce;
import org.countersign.client.user.Session;

/** Opens a session, or renews a challenged one, with an identity token around a nonce. */
final class Opening {
    private static final Set<String> OF_NONCE =
        new HashSet<>(Arrays.asList("nonce_used", "nonce_expired", "nonce_unknown", "nonce_other_device"));
    private final Client client;

    Opening(Client client) {
        this.client = client;
    }

    /** Opens or renews a session, of a certain user if one is given. */
    Session open(IdentityTokenSource from, @Nullable Nonce given, @Nullable UUID user)
            throws CountersignException {
        Nonce nonce = given;
        CountersignException last = null;
        for (int attempt = 0; attempt < 4; attempt++) {
            Nonce fresh = nonce == null ? takeNonce() : nonce;
            String token;
            try {
                token = from.identityToken(fresh);
            } catch (Exception failure) {
                throw new CountersignException(
                    Kind.PROVIDER, "The provider returned no identity token: " + failure, failure);
            }
            try {
                return open(token, user);
            } catch (CountersignException failure) {
                nonce = next(failure, token);
                last = failure;
            }
        }
        throw last;
    }

    Nonce takeNonce() throws CountersignException {
        Answer answer = client.exchange(HttpCall.of("POST", "/nonces").repeatable());
        Problem problem = answer.problem();
        if (problem == null) return new Nonce(answer.json().text("nonce"), answer.json().date("expires_at"));
        if (problem.code().equals(Problem.CERTIFICATE_REVOKED)) client.forgetCertificate(answer.serial);
        throw CountersignException.refused(problem);
    }

    private Session open(String token, @Nullable UUID user) throws CountersignException {
        Record.Secret present = client.record().session;
        Record.Secret former = present != null && present.isChallenged ? present : null;
        UUID app = client.service.appId();
        HttpCall call = former == null
            ? HttpCall.json("POST", "/sessions", HttpCall.members(
                "identity_token", token, "app_id", app == null ? null : app.toString()))
            : HttpCall.json("POST", "/sessions/renew", HttpCall.members("identity_token", token)).in(former.token);
        Answer answer = client.exchange(call);
        Problem problem = answer.problem();
        if (problem != null) {
            if (problem.code().equals(Problem.CERTIFICATE_REVOKED)) client.forgetCertificate(answer.serial);
            synchronized (client.lock) {
                // A renewal is not possible, so the next attempt opens another session.
                boolean isOver = problem.asksForIdentity() || problem.code().equals(Problem.CONFLICT);
                if (former != null && isOver && client.record.hasToken(former.token)) forget();
            }
            throw CountersignException.refused(problem);
        }
        Json json = answer.json();
        String secret = json.text("session_token");
        Session session = new Session(
            json.id("session_id"), json.id("user_id"), json.text("address"), json.date("expires_at"),
            Assurance.of(json.text("assurance")));
        if (user != null && !session.userId().equals(user)) {
            end(secret);
            forget();
            throw new CountersignException(
                Kind.ANOTHER_USER, "The identity token is for another user than the session's.", null);
        }
        store(new Record.Secret(session, secret, false), former != null);
        return session;
    }

    private void store(Record.Secret session, boolean isRenewal) throws CountersignException {
        if (isRenewal) {
            // The former token is no longer valid, so this one is used even if it cannot be stored.
            client.keepIfPossible(record -> record.with(session));
            return;
        }
        try {
            synchronized (client.lock) {
                client.keep(client.record.with(session));
            }
        } catch (CountersignException notStored) {
            end(session.token);
            throw notStored;
        }
    }

    /** The nonce for another attempt, or null for a fresh one. Throws what another attempt would not resolve. */
    private @Nullable Nonce next(CountersignException failure, String token) throws CountersignException {
        // The nonce may be spent by a session with a lost token.
        if (failure.kind() == Kind.UNANSWERED) return null;
        Problem problem = failure.problem();
        if (problem == null) throw failure;
        String reason = String.valueOf(problem.reason());
        if (problem.code().equals(Problem.INVALID_IDENTITY_TOKEN)) {
            if (OF_NONCE.contains(reason)) return problem.nonce();
            if (reason.equals("expired") || reason.equals("not_yet_valid")) {
                Instant issued = DeviceToken.issued(token);
                Duration lead = issued == null ? Duration.ZERO : Duration.between(client.time.now(), issued);
                if (lead.abs().getSeconds() <= 60) throw failure;
                throw CountersignException.clock(Kind.PROVIDER_CLOCK_WRONG, lead);
            }
            throw failure;
        }
        if (problem.code().equals(Problem.CONFLICT)) return null;
        if (problem.asksForIdentity()) return problem.nonce();
        throw failure;
    }

    /** Ends a session that will not be used. If that fails, it expires. */
    void end(String token) {
        try {
            client.exchange(HttpCall.of("DELETE", "/sessions/current").in(token));
        } catch (CountersignException ignored) {
            // The service ends it later.
        }
    }

    void forget() {
        client.keepIfPossible(record -> record.with((Record.Secret) null));
    }
}
