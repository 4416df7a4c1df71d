package org.countersign.client.support;

import java.nio.charset.StandardCharsets;
import java.security.PrivateKey;
import java.security.Signature;
import java.util.Base64;

/** Identity tokens as a provider's backend signs them. */
final class ProviderTokens {
    private final PrivateKey key;
    private final String provider;
    private final String keyId;

    ProviderTokens(PrivateKey key, String provider, String keyId) {
        this.key = key;
        this.provider = provider;
        this.keyId = keyId;
    }

    String identityToken(String user, String nonce, long secondsAhead) throws Exception {
        long now = System.currentTimeMillis() / 1000 + secondsAhead;
        String header = String.format(
            "{\"typ\":\"JWS\",\"cty\":\"layer-eit;v=1\",\"alg\":\"ES256\",\"kid\":\"%s\"}", keyId);
        String claims = String.format(
            "{\"iss\":\"%s\",\"prn\":\"%s\",\"nce\":\"%s\",\"iat\":%d,\"exp\":%d}", provider, user, nonce, now,
            now + 300);
        String input = encode(header.getBytes(StandardCharsets.UTF_8)) + "."
            + encode(claims.getBytes(StandardCharsets.UTF_8));
        // Java 9 and later write the form of JOSE themselves, which the library for Java 8 may not use.
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(key);
        signature.update(input.getBytes(StandardCharsets.US_ASCII));
        return input + "." + encode(signature.sign());
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
