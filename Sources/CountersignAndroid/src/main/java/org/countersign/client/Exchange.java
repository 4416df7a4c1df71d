package org.countersign.client;

import java.time.Duration;
import javax.annotation.Nullable;

/** One request and its response, for logs. It contains no secret. */
public final class Exchange {
    private final String method;
    private final String path;
    private final @Nullable Integer status;
    private final Duration duration;

    public Exchange(String method, String path, @Nullable Integer status, Duration duration) {
        this.method = method;
        this.path = path;
        this.status = status;
        this.duration = duration;
    }

    public String method() {
        return method;
    }

    /** The path without its query. */
    public String path() {
        return path;
    }

    /** The status of the response; null if there was none. */
    public @Nullable Integer status() {
        return status;
    }

    /** From the request to the last byte of the response. */
    public Duration duration() {
        return duration;
    }

    @Override
    public String toString() {
        return method + " " + path + " " + (status == null ? "unanswered" : status) + " " + duration.toMillis() + " ms";
    }
}
