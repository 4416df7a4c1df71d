package org.countersign.client.internal;

import java.util.UUID;
import java.util.concurrent.Semaphore;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Problem;
import org.countersign.client.internal.wire.Answer;
import org.countersign.client.internal.wire.HttpCall;

/** Calls in the user's session. If necessary the session is renewed once, together with all waiting calls. */
final class Calls {
    /** So many calls are pending at a time. The time limit of a waiting call has not started yet. */
    private static final int TURNS = 64;
    private final Client client;
    private final Semaphore turns = new Semaphore(TURNS, true);

    Calls(Client client) {
        this.client = client;
    }

    Answer answer(HttpCall call) throws CountersignException {
        client.load();
        client.certification.requireCertificate();
        boolean hasOwn = call.isAuthorized();
        Record.Secret first = client.record().session;
        // The call is for the current user, and is never carried out for another one.
        UUID user = first == null ? null : first.session.userId();
        boolean hasRenewed = false;
        int attachments = 0;
        // Each round but the last resolves one cause of a refusal.
        for (int round = 0; round < 6; round++) {
            if (!hasOwn) client.signIn.requireSession();
            takeTurn(hasOwn);
            Record.Secret session;
            Answer answer;
            try {
                session = client.record().session;
                if (user == null && session != null) user = session.session.userId();
                answer = client.exchange(hasOwn ? call : named(call, session, user));
            } finally {
                turns.release();
            }
            Problem problem = answer.problem();
            if (problem == null) return answer;
            if (problem.code().equals(Problem.CERTIFICATE_REVOKED)) {
                // The certificate was replaced while the request was sent. The service has not acted.
                if (client.certification.isOther(answer.serial)) continue;
                client.forgetCertificate(answer.serial);
                throw CountersignException.refused(problem);
            }
            if (hasOwn || session == null) throw CountersignException.refused(problem);
            if (problem.code().equals(Problem.SESSION_NOT_ATTACHED) && attachments < 3) {
                attachments++;
                client.signIn.attach();
            } else if (problem.asksForIdentity() && !hasRenewed) {
                hasRenewed = true;
                client.signIn.renew(session, problem);
            } else {
                client.signIn.noteEnd(session.token, problem);
                throw CountersignException.refused(problem);
            }
        }
        throw new CountersignException(
            Kind.UNANSWERED, "The service did not respond: the session changed too often.", null);
    }

    private static HttpCall named(HttpCall call, @Nullable Record.Secret session, @Nullable UUID user)
            throws CountersignException {
        if (session == null || !session.session.userId().equals(user)) throw Client.signedOut();
        return call.in(session.token);
    }

    /** Waits for a running sign-in, and for a turn. A renewal of the session goes before calls. */
    private void takeTurn(boolean hasOwn) throws CountersignException {
        while (true) {
            if (!hasOwn) client.signIn.settle();
            try {
                turns.acquire();
            } catch (InterruptedException interrupt) {
                throw CountersignException.interrupted(interrupt);
            }
            // Another sign-in may have started while this call waited for its turn.
            if (hasOwn || !client.signIn.isRunning()) return;
            turns.release();
        }
    }
}
