import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.Map;
import java.util.concurrent.Executors;

/** A backend with its own users, whose sessions Countersign keeps: a small HTTP server on loopback. */
final class Backend {
    private static final Map<String, String> ACCOUNTS = // replace it by your table with hashed passwords
        Map.of("ada", "correct horse", "ben", "battery staple");
    private final Service service = new Service();
    private final Sessions sessions = new Sessions(service);

    private Backend() throws Exception {}

    /** A response: a status, and a value, if any. */
    private record Answer(int status, Object value) {}

    private String body(HttpExchange request) throws IOException {
        var data = request.getRequestBody().readNBytes(65_537);
        if (data.length > 65_536) throw new Refusal(413, "too_large", "64 KiB at most");
        return new String(data, java.nio.charset.StandardCharsets.UTF_8);
    }

    private String logIn(JsonNode asked) throws Exception {
        var wanted = ACCOUNTS.get(asked.path("user").asText());
        var given = JWS.bytes(asked.path("password").asText());
        if (wanted == null || !MessageDigest.isEqual(JWS.bytes(wanted), given)) {
            throw new Refusal(403, "access_denied", "user or password is wrong");
        }
        return service.identityToken(asked.path("user").asText(), asked.path("nonce").asText());
    }

    private JsonNode json(HttpExchange request) throws IOException {
        var value = JWS.JSON.readTree(body(request));
        if (!value.isObject()) throw new Refusal(400, "invalid_request", "the body must be an object");
        return value;
    }

    /** Handles the request. */
    private Answer act(HttpExchange request) throws Exception {
        switch (request.getRequestMethod() + " " + request.getRequestURI().getRawPath()) {
            case "POST /login":
                return new Answer(200, Map.of("identity_token", logIn(json(request))));
            case "GET /me":
                return new Answer(200, sessions.verify(request));
            case "GET /me/user":
                return new Answer(200, service.user(sessions.verify(request).path("external_id").asText()));
            case "DELETE /me/sessions":
                service.endSessions(sessions.verify(request).path("external_id").asText());
                return new Answer(204, null);
            case "POST /events":
                sessions.event(body(request));
                return new Answer(202, null);
            case "POST /doctor":
                return new Answer(200, service.doctor(json(request).path("identity_token").asText()));
            default:
                throw new Refusal(404, "not_found", "unknown call");
        }
    }

    private Answer answer(HttpExchange request) {
        try {
            return act(request);
        } catch (Refusal refusal) {
            if (refusal.status == 401) {
                request.getResponseHeaders().set("WWW-Authenticate", "DPoP error=\"" + refusal.code + "\"");
            }
            return new Answer(refusal.status, Map.of("error", refusal.code, "error_description", refusal.getMessage()));
        } catch (Exception error) {
            return new Answer(400, Map.of("error", "invalid_request", "error_description", "" + error.getMessage()));
        }
    }

    private void handle(HttpExchange request) throws IOException {
        try (request) {
            var answer = answer(request);
            var data = answer.value == null ? new byte[0] : JWS.JSON.writeValueAsBytes(answer.value);
            request.getResponseHeaders().set("Content-Type", "application/json");
            request.sendResponseHeaders(answer.status, data.length == 0 ? -1 : data.length);
            request.getResponseBody().write(data);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true"); // otherwise responses wait for an acknowledgement
        var backend = new Backend();
        var events = System.getenv("EVENTS");
        try {
            if (events != null) backend.service.receiveEvents(events);
        } catch (Refusal refusal) {
            System.err.println("EVENTS was not registered (a URL on loopback needs countersign serve --loopback-urls): "
                + refusal.getMessage());
            System.exit(1);
        }
        var port = Integer.parseInt(Service.setting("PORT", "8460"));
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", backend::handle);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("ready: " + backend.sessions.origin());
    }
}
