package org.countersign.client.internal;

import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.IdentityTokenSource;
import org.countersign.client.Problem;
import org.countersign.client.internal.wire.Answer;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.work.Flight;
import org.countersign.client.user.Nonce;
import org.countersign.client.user.Session;

/** Attaches, renews and ends the session. One sign-in runs at a time. */
public final class SignIn {
    private final Client client;
    final Opening opening;
    /** The source of identity tokens, after the app has signed in. */
    private @Nullable IdentityTokenSource source;
    /** The sign-in for all calls that found the session challenged or ended. */
    private @Nullable Flight<Session> running;

    SignIn(Client client) {
        this.client = client;
        opening = new Opening(client);
    }

    /** Signs a user in, after any other sign-in. Another session of this device ends. */
    public Session signIn(IdentityTokenSource identityToken) throws CountersignException {
        client.load();
        Flight<Session> flight = null;
        Record.Secret former = null;
        while (flight == null) {
            settle();
            synchronized (client.lock) {
                if (running != null) continue;
                source = identityToken;
                former = client.record.session;
                flight = begin(identityToken, null, null);
            }
        }
        Session session = flight.await();
        if (former != null && !former.session.id().equals(session.id())) opening.end(former.token);
        return session;
    }

    /** Requests the current session from the service, and attaches it to the connection. */
    public Session resume() throws CountersignException {
        client.load();
        client.reload();
        attach();
        Record.Secret session = client.record().session;
        if (session == null) throw Client.signedOut();
        return session.session;
    }

    /** Ends the session, and those on other devices if it is asked to. */
    public void signOut(boolean everywhere) throws CountersignException {
        client.load();
        settle();
        if (client.record().session == null) return;
        if (everywhere) endOthers();
        Record.Secret session;
        IdentityTokenSource former;
        synchronized (client.lock) {
            session = client.record.session;
            if (session == null) return;
            // No other call must open a session while this one ends.
            former = source;
            source = null;
        }
        try {
            Problem problem = client.exchange(HttpCall.of("DELETE", "/sessions/current").in(session.token)).problem();
            boolean hasEnded = problem == null || problem.asksForIdentity()
                || problem.code().equals(Problem.CERTIFICATE_REVOKED);
            if (!hasEnded) throw CountersignException.refused(problem);
        } catch (CountersignException failure) {
            synchronized (client.lock) {
                if (source == null && client.record.hasToken(session.token)) source = former;
            }
            throw failure;
        }
        synchronized (client.lock) {
            if (client.record.hasToken(session.token)) opening.forget();
        }
    }

    private void endOthers() throws CountersignException {
        Json listed = client.perform(HttpCall.of("GET", "/sessions"));
        for (String other : listed.list("sessions", row -> row.flag("current") ? "" : row.id("id").toString())) {
            if (other.isEmpty()) continue;
            try {
                client.answer(HttpCall.of("DELETE", "/sessions/" + other));
            } catch (CountersignException failure) {
                // The session has ended already.
                if (!Problem.NOT_FOUND.equals(failure.code())) throw failure;
            }
        }
    }

    /** Attaches the session to the connection that the next call probably uses. */
    void attach() throws CountersignException {
        Record.Secret session = client.record().session;
        if (session == null) throw Client.signedOut();
        Answer answer = client.exchange(HttpCall.json("POST", "/sessions/resume", HttpCall.members(
            "user_id", session.session.userId().toString(), "session_token", session.token)).repeatable());
        Problem problem = answer.problem();
        if (problem == null) return;
        if (problem.code().equals(Problem.CERTIFICATE_REVOKED)) client.forgetCertificate(answer.serial);
        noteEnd(session.token, problem);
        throw CountersignException.refused(problem);
    }

    boolean isRunning() {
        synchronized (client.lock) {
            return running != null;
        }
    }

    /** Waits until no sign-in is running. */
    void settle() throws CountersignException {
        while (true) {
            Flight<Session> flight;
            synchronized (client.lock) {
                flight = running;
            }
            if (flight == null) return;
            flight.settle();
        }
    }

    /** Requires a session, or a way to renew it, before a call is sent. */
    void requireSession() throws CountersignException {
        synchronized (client.lock) {
            Record.Secret session = client.record.session;
            if (session == null && running == null) throw Client.signedOut();
            if (session != null && session.isChallenged && running == null && source == null) {
                throw CountersignException.refused(Problem.challenged());
            }
        }
    }

    /** Records that a token is no longer valid for actions. */
    void noteEnd(String token, Problem problem) {
        synchronized (client.lock) {
            if (!client.record.hasToken(token)) return;
            switch (problem.code()) {
                case Problem.SESSION_CHALLENGED:
                case Problem.BINDING_MISMATCH:
                    client.keepIfPossible(record -> record.with(
                        new Record.Secret(record.session.session, record.session.token, true)));
                    break;
                case Problem.SESSION_EXPIRED:
                case Problem.SESSION_DESTROYED:
                    opening.forget();
                    break;
                default:
            }
        }
    }

    /**
     * Renews the session once for all callers, or opens another one of the same user.
     *
     * @param session the session in which a call was refused
     * @param problem the refusal, with a nonce for the next identity token
     */
    void renew(Record.Secret session, Problem problem) throws CountersignException {
        Flight<Session> flight;
        synchronized (client.lock) {
            if (running == null) {
                // Another call has renewed it while this one waited for its response.
                if (!client.record.hasToken(session.token)) {
                    if (client.record.session == null) throw CountersignException.refused(problem);
                    return;
                }
                noteEnd(session.token, problem);
                if (source == null) throw CountersignException.refused(problem);
                begin(source, problem.nonce(), session.session.userId());
            }
            flight = running;
        }
        try {
            flight.await();
        } catch (CountersignException failure) {
            if (failure.kind() == Kind.INTERRUPTED) throw failure;
            throw failure.again("The session was not renewed. ");
        }
    }

    /** One sign-in at a time, for which all callers wait. The caller has the lock. */
    private Flight<Session> begin(IdentityTokenSource from, @Nullable Nonce nonce, @Nullable UUID user) {
        Flight<Session> flight = new Flight<>();
        running = flight;
        client.flights.execute(() -> flight.run(() -> opening.open(from, nonce, user), () -> {
            synchronized (client.lock) {
                running = null;
            }
        }));
        return flight;
    }
}
