package org.countersign.client.internal;

import java.time.Duration;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Problem;
import org.countersign.client.internal.wire.Answer;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Identity;
import org.countersign.client.internal.wire.Transport;

/** Exchanges with the client listener, and the change from one certificate to the next. */
final class Exchanges {
    private final Client client;
    /** While a certificate is replaced, new requests wait. */
    private boolean isReplacing;
    /** The number of pending requests to the client listener. */
    private int underWay;

    Exchanges(Client client) {
        this.client = client;
    }

    /**
     * Uses the record's certificate from now on, and shows it to the service. Pending requests are finished first,
     * because the service refuses the old certificate as soon as it has seen the new one.
     */
    void replaceIdentity() throws CountersignException {
        Transport over = client.load();
        Identity next;
        Identity former;
        synchronized (client.lock) {
            if (client.record.device == null) throw Client.uncertified();
            next = client.open(client.record.device, over);
            while (isReplacing) pause();
            isReplacing = true;
            try {
                while (underWay > 0) pause();
                former = client.identity;
                client.identity = next;
            } catch (CountersignException interrupt) {
                isReplacing = false;
                client.lock.notifyAll();
                throw interrupt;
            }
        }
        try {
            over.send(HttpCall.of("POST", "/nonces"), next);
        } catch (CountersignException ignored) {
            // Whatever the response, the service has seen the certificate.
        } finally {
            synchronized (client.lock) {
                isReplacing = false;
                client.lock.notifyAll();
            }
            if (former != null) former.close();
        }
    }

    private void pause() throws CountersignException {
        try {
            client.lock.wait();
        } catch (InterruptedException interrupt) {
            throw CountersignException.interrupted(interrupt);
        }
    }

    /** One exchange with the client listener, repeated if that is safe. */
    Answer exchange(HttpCall call) throws CountersignException {
        for (int attempt = 1; ; attempt++) {
            CountersignException failure;
            try {
                Answer answer = exchangeOnce(call);
                Problem problem = attempt < 4 ? answer.problem() : null;
                if (problem == null || !problem.isPassing()) return answer;
                failure = CountersignException.refused(problem);
            } catch (CountersignException failed) {
                failure = failed;
            }
            if (attempt >= 4 || !permitsRepetition(failure, call)) throw failure;
            Duration after = failure.retryAfter();
            Client.sleep(after == null ? 100L << attempt : Math.min(after.getSeconds(), 2) * 1000);
        }
    }

    private static boolean permitsRepetition(CountersignException failure, HttpCall call) {
        Problem problem = failure.problem();
        if (problem != null) return problem.isPassing();
        return failure.kind() == Kind.UNREACHABLE || failure.kind() == Kind.UNANSWERED && call.isRepeatable;
    }

    private Answer exchangeOnce(HttpCall call) throws CountersignException {
        Transport over = client.load();
        // A waiting call is not waited for: it is repeated after a certificate was replaced.
        boolean isCounted = call.wait.isZero();
        Identity shown;
        synchronized (client.lock) {
            while (isReplacing) pause();
            if (client.identity == null || client.record.device == null) throw Client.uncertified();
            shown = client.identity;
            if (isCounted) underWay++;
        }
        try {
            Answer answer = over.send(call, shown);
            client.time.note(answer);
            return answer;
        } catch (CountersignException failure) {
            requireUnexpired(failure, over);
            throw failure;
        } finally {
            synchronized (client.lock) {
                if (isCounted) underWay--;
                client.lock.notifyAll();
            }
        }
    }

    /**
     * With a wrong clock a device does not know that its certificate has expired, and the service ends the handshake
     * without a reason. So it requests the time from the public listener, once.
     */
    private void requireUnexpired(CountersignException failure, Transport over) throws CountersignException {
        if (failure.kind() != Kind.UNANSWERED && failure.kind() != Kind.UNREACHABLE || client.time.isKnown()) return;
        try {
            client.time.note(over.send(HttpCall.of("HEAD", "/"), null));
        } catch (CountersignException unreachable) {
            return;
        }
        synchronized (client.lock) {
            Record.CertifiedKey expired = client.record.device;
            if (expired == null || client.time.now().isBefore(expired.device.notAfter())) return;
            client.forgetCertificate(expired.device.serial());
        }
        throw Client.uncertified();
    }
}
