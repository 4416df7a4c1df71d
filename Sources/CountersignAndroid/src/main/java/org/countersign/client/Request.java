package org.countersign.client;

import java.util.LinkedHashMap;
import java.util.Map;
import javax.annotation.Nullable;
import org.countersign.client.internal.wire.HttpCall;

/**
 * A request of the app to the service, in the user's session. One with its own {@code Authorization} is sent unchanged.
 * Only requests of {@code GET}, {@code PUT} and {@code DELETE} are repeated after a lost response.
 */
public final class Request {
    private final HttpCall call;

    private Request(HttpCall call) {
        this.call = call;
    }

    /** Reads a path such as {@code /me}. */
    public static Request get(String path) {
        return new Request(HttpCall.of("GET", path));
    }

    /** Posts members as JSON: maps, collections, texts, numbers and booleans. */
    public static Request post(String path, Map<String, ?> members) {
        return new Request(HttpCall.json("POST", path, members));
    }

    /** Puts to a path. */
    public static Request put(String path) {
        return new Request(HttpCall.of("PUT", path));
    }

    /** Patches members as JSON. */
    public static Request patch(String path, Map<String, ?> members) {
        return new Request(HttpCall.json("PATCH", path, members));
    }

    /** Deletes at a path. */
    public static Request delete(String path) {
        return new Request(HttpCall.of("DELETE", path));
    }

    /**
     * Any other request.
     *
     * @param body at most 64 KiB; null for none
     * @param type the body's media type
     */
    public static Request of(String method, String path, @Nullable byte[] body, @Nullable String type) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (type != null) headers.put("Content-Type", type);
        return new Request(HttpCall.of(method, path, body == null ? null : body.clone(), headers));
    }

    /** The same request with another header field. */
    public Request header(String name, String value) {
        return new Request(call.with(name, value));
    }

    HttpCall call() {
        return call;
    }

    @Override
    public String toString() {
        return call.method + " " + call.path;
    }
}
