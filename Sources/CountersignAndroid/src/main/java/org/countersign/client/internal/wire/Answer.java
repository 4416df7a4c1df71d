package org.countersign.client.internal.wire;

import java.time.Instant;
import java.util.Date;
import javax.annotation.Nullable;
import okhttp3.Headers;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Problem;

/** A response of the service. */
public final class Answer {
    public final int status;
    public final Headers headers;
    public final byte[] body;
    /** The serial number of the certificate that was shown; null on the public listener. */
    public final @Nullable String serial;

    Answer(int status, Headers headers, byte[] body, @Nullable String serial) {
        this.status = status;
        this.headers = headers;
        this.body = body;
        this.serial = serial;
    }

    /** The service's time (RFC 9110 §6.6.1), in whole seconds. */
    public @Nullable Instant date() {
        Date date = headers.getDate("Date");
        return date == null ? null : Instant.ofEpochMilli(date.getTime());
    }

    public Json json() throws CountersignException {
        return Json.parse(body);
    }

    /** The refusal; null if the call succeeded. */
    public @Nullable Problem problem() throws CountersignException {
        if (status < 400) return null;
        try {
            return new Problem(json(), headers.get("Retry-After"));
        } catch (CountersignException unreadable) {
            throw new CountersignException(
                Kind.UNREADABLE, "The answer cannot be read: the status is " + status + " without a problem document.",
                unreadable);
        }
    }
}
