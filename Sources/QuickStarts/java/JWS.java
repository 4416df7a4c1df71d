import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.KeySpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import java.util.List;

/** A compact JWS (RFC 7515) that was read and not yet verified. */
record JWS(JsonNode header, JsonNode claims, String input, byte[] signature) {
    static final ObjectMapper JSON = new ObjectMapper();

    static byte[] bytes(String text) { return text.getBytes(StandardCharsets.UTF_8); }

    static String base64url(byte[] data) { return Base64.getUrlEncoder().withoutPadding().encodeToString(data); }

    /** A value as header or claims of a JWS. */
    static String part(Object value) throws Exception { return base64url(JSON.writeValueAsBytes(value)); }

    /** SHA-256 in base64url. */
    static String digest(String text) throws GeneralSecurityException {
        return base64url(MessageDigest.getInstance("SHA-256").digest(bytes(text)));
    }

    static JWS read(String text) throws Exception {
        var parts = text.split("\\.", -1);
        if (parts.length != 3) throw new GeneralSecurityException("no JWS");
        var decoder = Base64.getUrlDecoder();
        var header = JSON.readTree(decoder.decode(parts[0]));
        var claims = JSON.readTree(decoder.decode(parts[1]));
        if (header.has("crit")) throw new GeneralSecurityException("a critical header");
        return new JWS(header, claims, parts[0] + "." + parts[1], decoder.decode(parts[2]));
    }

    /** Whether the key (a JWK) signed it, by the one algorithm that fits the key. */
    boolean isSignedBy(JsonNode jwk) throws GeneralSecurityException {
        var kind = jwk.path("kty").asText() + jwk.path("crv").asText();
        var algorithm = switch (kind) {
            case "RSA" -> "SHA256withRSA";
            case "ECP-256" -> "SHA256withECDSAinP1363Format";
            case "ECP-384" -> "SHA384withECDSAinP1363Format";
            default -> throw new GeneralSecurityException("unsupported kind of key");
        };
        var name = kind.equals("RSA") ? "RS256" : kind.equals("ECP-256") ? "ES256" : "ES384";
        if (!header.path("alg").asText().equals(name)) return false;
        var verifier = Signature.getInstance(algorithm);
        verifier.initVerify(KeyFactory.getInstance(jwk.path("kty").asText()).generatePublic(specification(jwk)));
        verifier.update(bytes(input));
        return verifier.verify(signature);
    }

    /** The thumbprint of a key (RFC 7638). */
    static String thumbprint(JsonNode jwk) throws Exception {
        var isRSA = jwk.path("kty").asText().equals("RSA");
        var hashed = JSON.createObjectNode();
        for (var member : isRSA ? List.of("e", "kty", "n") : List.of("crv", "kty", "x", "y")) {
            hashed.put(member, jwk.path(member).asText());
        }
        return digest(JSON.writeValueAsString(hashed));
    }

    /** A private key of RSA or P-256, of a file in PEM (PKCS#8). */
    static PrivateKey privateKey(String text) throws GeneralSecurityException {
        var pem = text.replaceAll("-----[A-Z ]+-----|\\s", "");
        var encoded = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem));
        try {
            return KeyFactory.getInstance("RSA").generatePrivate(encoded);
        } catch (InvalidKeySpecException another) {
            return KeyFactory.getInstance("EC").generatePrivate(encoded);
        }
    }

    private static KeySpec specification(JsonNode jwk) throws GeneralSecurityException {
        if (jwk.path("kty").asText().equals("RSA")) return new RSAPublicKeySpec(number(jwk, "n"), number(jwk, "e"));
        var curve = AlgorithmParameters.getInstance("EC");
        curve.init(new ECGenParameterSpec(jwk.path("crv").asText().equals("P-256") ? "secp256r1" : "secp384r1"));
        var point = new ECPoint(number(jwk, "x"), number(jwk, "y"));
        return new ECPublicKeySpec(point, curve.getParameterSpec(ECParameterSpec.class));
    }

    private static BigInteger number(JsonNode jwk, String member) {
        return new BigInteger(1, Base64.getUrlDecoder().decode(jwk.path(member).asText()));
    }
}
