package org.countersign.client.internal;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.internal.wire.Answer;

/** The service's time, by its responses. A device's clock may be wrong. */
final class ServiceTime {
    /** The difference that the service tolerates. */
    private static final long TOLERATED_SECONDS = 60;
    /** This device's clock. */
    final Clock clock;
    /** How far the service's clock is ahead, as of the last response. */
    private Duration lead = Duration.ZERO;
    private boolean isKnown;

    ServiceTime(Clock clock) {
        this.clock = clock;
    }

    synchronized Instant now() {
        return clock.instant().plus(lead);
    }

    /** Compares this device's clock with the service's. */
    synchronized void note(Answer answer) {
        Instant date = answer.date();
        if (date == null) return;
        lead = Duration.between(clock.instant(), date);
        isKnown = true;
    }

    /** Whether a response has contained the service's time. */
    synchronized boolean isKnown() {
        return isKnown;
    }

    /** The error of this device's clock, if it is too wrong for the service; otherwise null. */
    synchronized @Nullable CountersignException error() {
        boolean isWrong = lead.abs().getSeconds() > TOLERATED_SECONDS;
        return isWrong ? CountersignException.clock(Kind.CLOCK_WRONG, lead.negated()) : null;
    }
}
