package org.countersign.client.internal.wire;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.annotation.Nullable;

/** A request, and whether it may be repeated. */
public final class HttpCall {
    private static final String JSON = "application/json";
    public final String method;
    public final String path;
    public final @Nullable byte[] body;
    public final Map<String, String> headers;
    /** Whether a repetition has no further effect, so that a lost response does no harm. */
    public final boolean isRepeatable;
    /** How long the service may wait before it responds, in addition to the usual time limit. */
    public final Duration wait;

    private HttpCall(
            String method, String path, @Nullable byte[] body, Map<String, String> headers, boolean isRepeatable,
            Duration wait) {
        this.method = method;
        this.path = path;
        this.body = body;
        this.headers = headers;
        this.isRepeatable = isRepeatable;
        this.wait = wait;
    }

    /** A call without a body. It is repeatable by HTTP's rule for the method (RFC 9110 §9.2.2). */
    public static HttpCall of(String method, String path) {
        return of(method, path, null, Collections.emptyMap());
    }

    /** A request of the app. */
    public static HttpCall of(String method, String path, @Nullable byte[] body, Map<String, String> headers) {
        boolean isIdempotent = !method.equals("POST") && !method.equals("PATCH");
        return new HttpCall(method, path, body, headers, isIdempotent, Duration.ZERO);
    }

    /** A call with a body of JSON. Equal members have equal bytes. */
    public static HttpCall json(String method, String path, Map<String, ?> members) {
        return of(method, path, JsonText.bytes(members), Collections.singletonMap("Content-Type", JSON));
    }

    /** A form, which may be repeated. */
    public static HttpCall form(String path, Map<String, String> pairs) {
        return of("POST", path, Text.utf8(Text.form(pairs)), Collections.singletonMap(
            "Content-Type", "application/x-www-form-urlencoded")).repeatable();
    }

    public HttpCall repeatable() {
        return new HttpCall(method, path, body, headers, true, wait);
    }

    public HttpCall waiting(Duration wait) {
        return new HttpCall(method, path, body, headers, isRepeatable, wait);
    }

    public HttpCall with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new HttpCall(method, path, body, more, isRepeatable, wait);
    }

    /** The call in a session. */
    public HttpCall in(String sessionToken) {
        return with("Authorization", "Layer session-token=\"" + sessionToken + "\"");
    }

    public boolean isAuthorized() {
        return headers.keySet().stream().anyMatch("Authorization"::equalsIgnoreCase);
    }

    /** Members without those that are null. */
    public static Map<String, Object> members(Object... namesAndValues) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (int index = 0; index + 1 < namesAndValues.length; index += 2) {
            Object value = namesAndValues[index + 1];
            if (value != null) members.put((String) namesAndValues[index], value);
        }
        return members;
    }
}
