package org.countersign.client.internal.wire;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.StringJoiner;
import javax.annotation.Nullable;

/** The forms of texts in paths, bodies and tokens. */
public final class Text {
    private Text() {}

    /** base64url without padding (RFC 4648 §5). */
    public static String base64Url(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** Decodes base64 in either alphabet, with or without padding; null if it is neither. */
    public static @Nullable byte[] fromBase64(String text) {
        String bare = text.replace('+', '-').replace('/', '_').replace("=", "");
        try {
            return Base64.getUrlDecoder().decode(bare);
        } catch (IllegalArgumentException notBase64) {
            return null;
        }
    }

    public static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException impossible) {
            // Every Java platform must have it.
            throw new IllegalStateException(impossible);
        }
    }

    /** Every byte but letters and digits is escaped, so the text may be put anywhere. */
    public static String percentEncoded(String text) {
        StringBuilder encoded = new StringBuilder();
        for (byte one : utf8(text)) {
            boolean isPlain = one >= 'a' && one <= 'z' || one >= 'A' && one <= 'Z' || one >= '0' && one <= '9';
            if (isPlain) {
                encoded.append((char) one);
            } else {
                encoded.append(String.format("%%%02X", one & 0xff));
            }
        }
        return encoded.toString();
    }

    /** A form (RFC 6749 Appendix B), or the part of a path after the question mark. Null values are left out. */
    public static String form(Map<String, String> pairs) {
        StringJoiner joined = new StringJoiner("&");
        pairs.forEach((name, value) -> {
            if (value != null) joined.add(name + "=" + percentEncoded(value));
        });
        return joined.toString();
    }

    /** A path with a query, if one of its values is not null. */
    public static String path(String path, Map<String, String> query) {
        String form = form(query);
        return form.isEmpty() ? path : path + "?" + form;
    }

    /** A number of 32 bytes, without the sign byte or with leading zeros, as JOSE requires it (RFC 7518 §3.4). */
    static byte[] fixed32(byte[] number) {
        byte[] fixed = new byte[32];
        int length = Math.min(number.length, 32);
        System.arraycopy(number, number.length - length, fixed, 32 - length, length);
        for (byte lead : Arrays.copyOf(number, number.length - length)) {
            if (lead != 0) throw new IllegalArgumentException("longer than 32 bytes");
        }
        return fixed;
    }
}
