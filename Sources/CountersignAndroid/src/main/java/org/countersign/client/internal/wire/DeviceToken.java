package org.countersign.client.internal.wire;

import java.security.PublicKey;
import java.security.interfaces.ECPublicKey;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.store.DeviceKeys;
import org.countersign.client.store.StorageFailure;

/** Tokens that the device signs with its key: compact JWS, ES256 (RFC 7518 §3.4). */
public final class DeviceToken {
    private final DeviceKeys keys;
    private final String keyName;

    public DeviceToken(DeviceKeys keys, String keyName) {
        this.keys = keys;
        this.keyName = keyName;
    }

    /** A certification request, with the key and a proof of its possession. */
    public String certificationRequest(UUID deviceId, PublicKey key) throws CountersignException {
        return sign(
            HttpCall.members("typ", "JWS", "cty", "layer-csr;v=1", "alg", "ES256"),
            HttpCall.members(
                "uat", "countersign-client", "prn", deviceId.toString(), "pka", "EC",
                "pky", Base64.getEncoder().encodeToString(key.getEncoded())));
    }

    /**
     * A proof of the user's presence.
     *
     * @param number E.164, with or without marks between the digits
     */
    public String presenceProof(String nonce, String method, String number, Instant time) throws CountersignException {
        String plain = "+" + number.replaceAll("[^0-9]", "");
        return sign(
            HttpCall.members("typ", "JWS", "cty", "layer-presence;v=1", "alg", "ES256"),
            HttpCall.members(
                "nce", nonce, "iat", time.getEpochSecond(), "method", method,
                "phone_sha256", Text.base64Url(Text.sha256(Text.utf8(plain)))));
    }

    /**
     * A proof for one request (RFC 9449 §4.2).
     *
     * @param token the accompanying access token, for the app's backend
     */
    public String proof(String method, String url, @Nullable String token, Instant time) throws CountersignException {
        PublicKey key = keys.publicKey(keyName);
        if (!(key instanceof ECPublicKey)) throw damaged(null);
        ECPublicKey point = (ECPublicKey) key;
        Map<String, Object> jwk = HttpCall.members(
            "kty", "EC", "crv", "P-256",
            "x", Text.base64Url(Text.fixed32(point.getW().getAffineX().toByteArray())),
            "y", Text.base64Url(Text.fixed32(point.getW().getAffineY().toByteArray())));
        return sign(
            HttpCall.members("typ", "dpop+jwt", "alg", "ES256", "jwk", jwk),
            HttpCall.members(
                "jti", UUID.randomUUID().toString(), "htm", method, "htu", url, "iat", time.getEpochSecond(),
                "ath", token == null ? null : Text.base64Url(Text.sha256(Text.utf8(token)))));
    }

    private String sign(Map<String, Object> header, Map<String, Object> claims) throws CountersignException {
        String input = Text.base64Url(JsonText.bytes(header)) + "." + Text.base64Url(JsonText.bytes(claims));
        byte[] der = keys.sign(Text.utf8(input), keyName);
        try {
            return input + "." + Text.base64Url(joseSignature(der));
        } catch (IllegalArgumentException notDer) {
            throw damaged(notDer);
        }
    }

    private static CountersignException damaged(@Nullable Throwable cause) {
        return CountersignException.storage(StorageFailure.DAMAGED, cause);
    }

    /** From ECDSA-Sig-Value, a sequence of two integers in DER, to both with 32 bytes each. */
    static byte[] joseSignature(byte[] der) {
        // A signature of P-256 is shorter than 128 bytes, so each length is one byte.
        if (der.length < 8 || der[0] != 0x30 || der[1] != der.length - 2 || der[2] != 0x02) {
            throw new IllegalArgumentException("not a sequence of two integers");
        }
        int secondTag = 4 + der[3];
        if (der[3] < 1 || secondTag + 2 >= der.length || der[secondTag] != 0x02
            || der[secondTag + 1] != der.length - secondTag - 2) {
            throw new IllegalArgumentException("not a sequence of two integers");
        }
        byte[] both = new byte[64];
        byte[] first = Text.fixed32(java.util.Arrays.copyOfRange(der, 4, secondTag));
        byte[] second = Text.fixed32(java.util.Arrays.copyOfRange(der, secondTag + 2, der.length));
        System.arraycopy(first, 0, both, 0, 32);
        System.arraycopy(second, 0, both, 32, 32);
        return both;
    }

    /** The issue time of a provider's token; null if it has none. */
    public static @Nullable Instant issued(String token) {
        String[] parts = token.split("\\.", -1);
        byte[] payload = parts.length == 3 ? Text.fromBase64(parts[1]) : null;
        try {
            Object issued = payload == null ? null : Json.parse(payload).value("iat");
            return issued instanceof Number ? Instant.ofEpochSecond(((Number) issued).longValue()) : null;
        } catch (CountersignException unreadable) {
            return null;
        }
    }
}
