import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.Map;

/** The proof that a device has the key that its token is bound to: DPoP (RFC 9449). */
final class Proofs {
    final String origin = Service.setting("ORIGIN", "http://127.0.0.1:8460"); // this backend, as devices see it
    private final Memory used = new Memory();
    private final Map<String, Integer> counts = new HashMap<>(); // how many of them each device's key has made

    /** Accepts a proof for this request and token, by the key of this thumbprint, once. */
    void check(String text, HttpExchange request, String token, String thumbprint) throws Exception {
        String name;
        boolean isGood;
        try {
            var proof = JWS.read(text);
            var claims = proof.claims();
            var key = proof.header().path("jwk");
            isGood = JWS.thumbprint(key).equals(thumbprint) && proof.isSignedBy(key)
                && proof.header().path("typ").asText().equals("dpop+jwt")
                && claims.path("htm").asText().equals(request.getRequestMethod())
                && claims.path("htu").asText().equals(origin + request.getRequestURI().getRawPath())
                && claims.path("ath").asText().equals(JWS.digest(token)) && claims.path("jti").isTextual()
                && claims.path("iat").isNumber() && Math.abs(Memory.now() - claims.path("iat").asDouble()) <= 60;
            name = thumbprint + " " + JWS.digest(claims.path("jti").asText());
        } catch (GeneralSecurityException | IOException | IllegalArgumentException error) {
            throw new Refusal(401, "invalid_dpop_proof", error.getMessage());
        }
        if (!isGood) {
            throw new Refusal(401, "invalid_dpop_proof", "for another request, token or key, or over a minute old");
        }
        synchronized (used) {
            for (var dropped : used.forget(120)) {
                counts.computeIfPresent(dropped.split(" ")[0], (key, count) -> count > 1 ? count - 1 : null);
            }
            if (used.get(name) > 0 || counts.getOrDefault(thumbprint, 0) >= 1_000 || used.size() >= 100_000) {
                throw new Refusal(401, "invalid_dpop_proof", "used before, or too many in two minutes");
            }
            used.add(name, Memory.now());
            counts.merge(thumbprint, 1, Integer::sum);
        }
    }
}
