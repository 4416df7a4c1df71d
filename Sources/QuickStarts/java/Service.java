import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A backend's calls to Countersign: identity tokens, and queries about users and tokens. */
final class Service {
    final String url = setting("SERVICE", "https://127.0.0.1:8440"); // its public URL, the issuer of session tokens
    final String realm = setting("REALM", "localhost"); // its name, the issuer of security events
    final JsonNode provider = JWS.JSON.readTree(Path.of(setting("PROVIDER", "provider.json")).toFile());
    private final PrivateKey key;
    private final HttpClient client;

    Service() throws IOException, GeneralSecurityException {
        key = JWS.privateKey(Files.readString(Path.of(setting("KEY", "provider.key"))));
        var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (var file = Files.newInputStream(Path.of(setting("CA", "Keys/ca.pem")))) {
            trusted.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        var tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        client = HttpClient.newBuilder().sslContext(tls).build();
    }

    static String setting(String name, String usual) { return System.getenv().getOrDefault(name, usual); }

    /** A token of this provider, for `life` seconds. */
    private String sign(String contentType, int life, Map<String, Object> more) throws Exception {
        var now = Instant.now().getEpochSecond();
        var isRSA = key.getAlgorithm().equals("RSA");
        var header = Map.of(
            "alg", isRSA ? "RS256" : "ES256", "typ", "JWT", "cty", contentType, "kid", provider.get("key_id"));
        var claims = new HashMap<>(more);
        claims.putAll(Map.of("iss", provider.get("provider_id"), "aud", realm, "iat", now, "exp", now + life));
        var input = JWS.part(header) + "." + JWS.part(claims);
        var signature = Signature.getInstance(isRSA ? "SHA256withRSA" : "SHA256withECDSAinP1363Format");
        signature.initSign(key);
        signature.update(JWS.bytes(input));
        return input + "." + JWS.base64url(signature.sign());
    }

    private JsonNode send(HttpRequest.Builder request) throws Exception {
        try {
            var answer = client.send(request.timeout(Duration.ofSeconds(5)).build(), BodyHandlers.ofString());
            if (answer.statusCode() >= 300) throw new Refusal(502, "service_refused", answer.body());
            return JWS.JSON.readTree(answer.body());
        } catch (IOException error) {
            throw new Refusal(503, "temporarily_unavailable", error.toString());
        }
    }

    /** A public document of the service. */
    JsonNode get(String path) throws Exception { return send(HttpRequest.newBuilder(URI.create(url + path))); }

    /** A call with a token for this one request. */
    private JsonNode call(String method, String path, Object value) throws Exception {
        var body = value == null ? "" : JWS.JSON.writeValueAsString(value);
        var token = sign("layer-provider;v=1", 60, Map.of(
            "jti", UUID.randomUUID(), "htm", method, "htu", url + path, "body_sha256", JWS.digest(body)));
        return send(HttpRequest.newBuilder(URI.create(url + path)).header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json").method(method, BodyPublishers.ofString(body)));
    }

    private static String user(String externalID, String rest) {
        return "/provider/users/" + URLEncoder.encode(externalID, StandardCharsets.UTF_8).replace("+", "%20") + rest;
    }

    /** States that this user has just logged in on the device with this nonce. Check that before you call it. */
    String identityToken(String user, String nonce) throws Exception {
        return sign("layer-eit;v=1", 300, Map.of("sub", user, "nce", nonce));
    }

    /** The user's level, age flags and ban, by the service. */
    JsonNode user(String externalID) throws Exception { return call("GET", user(externalID, ""), null); }

    /** Signs a user out on every device. */
    void endSessions(String externalID) throws Exception { call("DELETE", user(externalID, "/sessions"), null); }

    /** Every defect that the service finds in an identity token. It does not spend the nonce. */
    JsonNode doctor(String token) throws Exception {
        return call("POST", "/provider/token-check", Map.of("identity_token", token));
    }

    /** Sets the URL to which the service sends security events. */
    void receiveEvents(String target) throws Exception { call("PUT", "/provider/webhook", Map.of("url", target)); }
}
