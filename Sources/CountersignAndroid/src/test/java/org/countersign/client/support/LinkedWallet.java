package org.countersign.client.support;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigInteger;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.UUID;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import javax.net.ssl.HttpsURLConnection;

/** A wallet on the device of the app, which presents the invented PID of an invented issuer (OpenID4VP 1.0 §8.2). */
public final class LinkedWallet {
    private static final byte[] AUTHORITY = Der.name("Example", "Authority");
    private final KeyPair root = Der.key();
    private final KeyPair signer = Der.key();
    private final KeyPair holder = Der.key();
    private final X509Certificate certificate = Der.certificate(
        Der.name("Example", "Signer"), signer.getPublic(), AUTHORITY, root.getPrivate(), Der.SIGNS);
    private final String tlsAuthority;

    /** A wallet that trusts the service's authority for TLS. */
    LinkedWallet(String tlsAuthority) throws Exception {
        this.tlsAuthority = tlsAuthority;
    }

    /** The certificate of the issuer's authority in PEM. */
    String issuer() throws Exception {
        return Der.pem(Der.certificate(
            AUTHORITY, root.getPublic(), AUTHORITY, root.getPrivate(), Der.AUTHORITY_OF_SIGNERS,
            Der.SIGNS_CERTIFICATES));
    }

    /** Fetches the request that a link names, presents the PID, and returns the link back to the app. */
    public URI present(URI link) throws Exception {
        String place = null;
        for (String pair : link.getQuery().split("&")) {
            if (pair.startsWith("request_uri=")) place = pair.substring("request_uri=".length());
        }
        String request = post(place, "wallet_nonce=n");
        JsonObject asked = JsonParser.parseString(new String(
            Base64.getUrlDecoder().decode(request.split("\\.")[1]), StandardCharsets.UTF_8)).getAsJsonObject();
        String answer = "response=" + encrypted(asked);
        String target = asked.get("response_uri").getAsString();
        return URI.create(
            JsonParser.parseString(post(target, answer)).getAsJsonObject().get("redirect_uri").getAsString());
    }

    private String post(String url, String form) throws Exception {
        HttpsURLConnection connection = (HttpsURLConnection) new URL(url).openConnection();
        connection.setSSLSocketFactory(Discovery.trusting(tlsAuthority).getSocketFactory());
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        try (OutputStream body = connection.getOutputStream()) {
            body.write(bytes(form));
        }
        boolean isRefused = connection.getResponseCode() >= 400;
        try (InputStream body = isRefused ? connection.getErrorStream() : connection.getInputStream()) {
            ByteArrayOutputStream found = new ByteArrayOutputStream();
            for (int one = body.read(); one >= 0; one = body.read()) found.write(one);
            String text = new String(found.toByteArray(), StandardCharsets.UTF_8);
            if (isRefused) throw new AssertionError(text);
            return text;
        }
    }

    /** The answer as a compact JWE by ECDH-ES and A128GCM (RFC 7516, RFC 7518 §4.6). */
    private String encrypted(JsonObject asked) throws Exception {
        JsonObject key = asked.getAsJsonObject("client_metadata").getAsJsonObject("jwks").getAsJsonArray("keys").get(0)
            .getAsJsonObject();
        KeyPair ephemeral = Der.key();
        JsonObject header = new JsonObject();
        header.addProperty("alg", "ECDH-ES");
        header.addProperty("enc", "A128GCM");
        header.addProperty("kid", key.get("kid").getAsString());
        header.add("epk", webKey(ephemeral.getPublic()));
        KeyAgreement agreement = KeyAgreement.getInstance("ECDH");
        agreement.init(ephemeral.getPrivate());
        agreement.doPhase(publicKey(key), true);
        byte[] secret = agreement.generateSecret();
        byte[] algorithm = bytes("A128GCM");
        // The length of the algorithm's name, no names of the parties, and the length of the key in bits.
        byte[] derived = sha256(ByteBuffer.allocate(4 + secret.length + 4 + algorithm.length + 12).putInt(1)
            .put(secret).putInt(algorithm.length).put(algorithm).putInt(0).putInt(0).putInt(128).array());
        JsonArray presentations = new JsonArray();
        presentations.add(presentation(asked));
        JsonObject token = new JsonObject();
        token.add("pid", presentations);
        JsonObject content = new JsonObject();
        content.add("vp_token", token);
        content.add("state", asked.get("state"));
        String head = text(bytes(header.toString()));
        byte[] nonce = Arrays.copyOf(sha256(secret), 12);
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        SecretKeySpec contentKey = new SecretKeySpec(derived, 0, 16, "AES");
        cipher.init(Cipher.ENCRYPT_MODE, contentKey, new GCMParameterSpec(128, nonce));
        cipher.updateAAD(bytes(head));
        byte[] box = cipher.doFinal(bytes(content.toString()));
        int end = box.length - 16;
        return String.join(
            ".", head, "", text(nonce), text(Arrays.copyOf(box, end)), text(Arrays.copyOfRange(box, end, box.length)));
    }

    /** An SD-JWT VC with all claims disclosed, bound to the request (RFC 9901). */
    private String presentation(JsonObject asked) throws Exception {
        long now = Instant.now().getEpochSecond();
        JsonArray digests = new JsonArray();
        StringBuilder disclosures = new StringBuilder();
        for (String[] claim : new String[][] {
            {"family_name", "SAMPLE"}, {"given_name", "ALICE"}, {"birthdate", "1990-01-31"},
            {"date_of_expiry", "2044-01-31"}, {"issuing_country", "US"}, {"document_number", "X1234567"},
        }) {
            String disclosure = text(bytes(
                "[\"" + UUID.randomUUID() + "\",\"" + claim[0] + "\",\"" + claim[1] + "\"]"));
            disclosures.append(disclosure).append('~');
            digests.add(text(sha256(bytes(disclosure))));
        }
        JsonArray chain = new JsonArray();
        chain.add(Base64.getEncoder().encodeToString(certificate.getEncoded()));
        JsonObject header = header("dc+sd-jwt");
        header.add("x5c", chain);
        JsonObject confirmation = new JsonObject();
        confirmation.add("jwk", webKey(holder.getPublic()));
        JsonObject claims = new JsonObject();
        claims.addProperty("iat", now - 60);
        claims.addProperty("exp", now + 3600);
        claims.addProperty("vct", "urn:eudi:pid:1");
        claims.addProperty("_sd_alg", "sha-256");
        claims.add("_sd", digests);
        claims.add("cnf", confirmation);
        String bound = signed(header, claims, signer.getPrivate()) + "~" + disclosures;
        JsonObject binding = new JsonObject();
        binding.addProperty("iat", now);
        binding.add("nonce", asked.get("nonce"));
        binding.add("aud", asked.get("client_id"));
        binding.addProperty("sd_hash", text(sha256(bytes(bound))));
        return bound + signed(header("kb+jwt"), binding, holder.getPrivate());
    }

    private static JsonObject header(String type) {
        JsonObject header = new JsonObject();
        header.addProperty("alg", "ES256");
        header.addProperty("typ", type);
        return header;
    }

    private static String signed(JsonObject header, JsonObject claims, PrivateKey key) throws Exception {
        String input = text(bytes(header.toString())) + "." + text(bytes(claims.toString()));
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(key);
        signature.update(bytes(input));
        return input + "." + text(signature.sign());
    }

    private static JsonObject webKey(PublicKey key) {
        ECPoint point = ((ECPublicKey) key).getW();
        JsonObject members = new JsonObject();
        members.addProperty("kty", "EC");
        members.addProperty("crv", "P-256");
        members.addProperty("x", text(fixed(point.getAffineX())));
        members.addProperty("y", text(fixed(point.getAffineY())));
        return members;
    }

    private PublicKey publicKey(JsonObject key) throws Exception {
        BigInteger x = new BigInteger(1, Base64.getUrlDecoder().decode(key.get("x").getAsString()));
        BigInteger y = new BigInteger(1, Base64.getUrlDecoder().decode(key.get("y").getAsString()));
        return KeyFactory.getInstance("EC").generatePublic(
            new ECPublicKeySpec(new ECPoint(x, y), ((ECPublicKey) holder.getPublic()).getParams()));
    }

    /** 32 bytes, without the sign byte and with leading zeros. */
    private static byte[] fixed(BigInteger number) {
        byte[] all = new byte[64];
        byte[] bare = number.toByteArray();
        System.arraycopy(bare, 0, all, 64 - bare.length, bare.length);
        return Arrays.copyOfRange(all, 32, 64);
    }

    private static byte[] sha256(byte[] bytes) throws Exception {
        return MessageDigest.getInstance("SHA-256").digest(bytes);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
