import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a backend accepts from Countersign: sessions, verified without a call, and events that end them. */
final class Sessions {
    private static final Set<String> ENDING = Set.of("session-revoked", "account-disabled", "account-purged");
    private final Service service;
    private volatile Map<String, JsonNode> keys = Map.of();
    private final Object fetching = new Object(); // over keysAt; tokens with a known key do not wait for it
    private long keysAt = Long.MIN_VALUE / 2; // when keys were requested
    private final Proofs proofs = new Proofs();
    private final Memory endedSessions = new Memory();
    private final Memory endedUsers = new Memory();

    Sessions(Service service) { this.service = service; }

    /** This backend, as devices see it. */
    String origin() { return proofs.origin; }

    /** A key of the service. Keys are fetched once, and again only for an unknown one, at most once a minute. */
    private JsonNode key(String id) throws Exception {
        if (!keys.containsKey(id)) fetch(id);
        if (keys.isEmpty()) throw new Refusal(503, "temporarily_unavailable", "the service's keys are not known yet");
        return keys.getOrDefault(id, JWS.JSON.nullNode());
    }

    private void fetch(String id) throws Exception {
        synchronized (fetching) {
            var time = System.nanoTime() / 1_000_000_000;
            if (keys.containsKey(id) || time < keysAt + (keys.isEmpty() ? 5 : 60)) return;
            keysAt = time;
            var found = new HashMap<String, JsonNode>();
            service.get("/.well-known/jwks.json").get("keys").forEach(key -> found.put(key.path("kid").asText(), key));
            keys = found;
        }
    }

    /** The claims of a token for this provider. */
    private JsonNode signedByService(String text, String type, String issuer) throws Exception {
        var token = JWS.read(text);
        var header = token.header();
        if (!header.path("typ").asText().equals(type) || !token.isSignedBy(key(header.path("kid").asText()))) {
            throw new GeneralSecurityException("no " + type + ", or another's signature");
        }
        var claims = token.claims();
        if (!claims.path("iss").asText().equals(issuer)
            || !claims.path("aud").equals(service.provider.get("provider_id"))) {
            throw new GeneralSecurityException("wrong issuer or audience");
        }
        return claims;
    }

    /** The claims of a session's token. They prove nothing until `cnf` was compared with the device. */
    private JsonNode session(String token) throws Exception {
        JsonNode claims;
        try {
            claims = signedByService(token, "at+jwt", service.url);
        } catch (GeneralSecurityException | java.io.IOException | IllegalArgumentException error) {
            throw new Refusal(401, "invalid_token", error.getMessage());
        }
        synchronized (this) {
            var userEnded = endedUsers.get(claims.path("external_id").asText());
            if (claims.path("exp").asDouble() <= Memory.now() || endedSessions.get(claims.path("sid").asText()) > 0
                || claims.path("auth_time").asDouble() <= userEnded) {
                throw new Refusal(401, "invalid_token", "the session has ended");
            }
        }
        return claims;
    }

    /** The session of a request with `Authorization: DPoP …` and a proof. */
    JsonNode verify(HttpExchange request) throws Exception {
        var headers = request.getRequestHeaders();
        var shown = headers.getOrDefault("Authorization", List.of("")).get(0).split(" ", 2);
        var proofOf = headers.getOrDefault("DPoP", List.of());
        if (!shown[0].equalsIgnoreCase("DPoP") || shown.length != 2 || proofOf.size() != 1) {
            throw new Refusal(401, "invalid_token", "a DPoP token and one proof are required");
        }
        var claims = session(shown[1]);
        proofs.check(proofOf.get(0), request, shown[1], claims.path("cnf").path("jkt").asText());
        return claims;
    }

    /** A security event (RFC 8417). Sessions that it ends are refused from now on, longer than any token lives. */
    void event(String body) throws Exception {
        JsonNode claims;
        try {
            claims = signedByService(body, "secevent+jwt", service.realm);
        } catch (GeneralSecurityException | IOException | IllegalArgumentException error) {
            throw new Refusal(400, "invalid_request", error.getMessage());
        }
        var subject = claims.path("sub_id");
        var ended = subject.has("session") ? endedSessions : endedUsers;
        var whose = subject.at(subject.has("session") ? "/session/id" : "/sub");
        synchronized (this) {
            ended.forget(600);
            for (var names = claims.path("events").fieldNames(); names.hasNext();) {
                var name = names.next();
                if (!ENDING.contains(name.substring(name.lastIndexOf('/') + 1))) continue;
                if (!whose.isTextual()) {
                    throw new Refusal(400, "invalid_request", "the event has an unknown form of subject");
                }
                ended.add(whose.asText(), claims.path("toe").asDouble());
            }
        }
    }
}
