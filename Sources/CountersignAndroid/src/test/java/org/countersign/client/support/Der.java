package org.countersign.client.support;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;

/** Writes DER, and certificates in it (RFC 5280), which Java only reads. */
final class Der {
    static final int BOOLEAN = 1;
    static final int BITS = 3;
    static final int OCTETS = 4;
    static final int ENUMERATED = 10;
    private static final int TEXT = 12;
    private static final int TIME = 23;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final byte[] YES = node(BOOLEAN, new byte[] {-1});
    /** ecdsa-with-SHA256. */
    private static final byte[] ALGORITHM = sequence(identifier(1, 2, 840, 10045, 4, 3, 2));
    private static final DateTimeFormatter TIMES =
        DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    /** Extensions of certificates. */
    static final byte[] AUTHORITY_OF_SIGNERS = extension(sequence(YES, integer(0)), 2, 5, 29, 19);
    static final byte[] AUTHORITY = extension(sequence(YES), 2, 5, 29, 19);
    static final byte[] SIGNS_CERTIFICATES = extension(node(BITS, new byte[] {2, 4}), 2, 5, 29, 15);
    static final byte[] SIGNS = extension(node(BITS, new byte[] {7, -128}), 2, 5, 29, 15);

    private Der() {}

    /** A node below tag number 31. */
    static byte[] node(int tag, byte[]... parts) {
        return node(new byte[] {(byte) tag}, parts);
    }

    private static byte[] node(byte[] tag, byte[]... parts) {
        byte[] content = joined(parts);
        byte low = (byte) content.length;
        byte[] length = content.length < 128 ? new byte[] {low}
            : content.length < 256 ? new byte[] {(byte) 0x81, low}
            : new byte[] {(byte) 0x82, (byte) (content.length >> 8), low};
        return joined(tag, length, content);
    }

    /** A node with an explicit tag of the context, whatever its number below 16,384. */
    static byte[] tagged(int number, byte[]... parts) {
        if (number < 31) return node(0xa0 | number, parts);
        if (number < 128) return node(new byte[] {(byte) 0xbf, (byte) number}, parts);
        return node(new byte[] {(byte) 0xbf, (byte) (number >> 7 | 128), (byte) (number & 127)}, parts);
    }

    static byte[] sequence(byte[]... parts) {
        return node(SEQUENCE, parts);
    }

    static byte[] set(byte[]... parts) {
        return node(SET, parts);
    }

    static byte[] integer(long value) {
        return node(2, BigInteger.valueOf(value).toByteArray());
    }

    private static byte[] identifier(int... numbers) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        content.write(numbers[0] * 40 + numbers[1]);
        for (int index = 2; index < numbers.length; index++) {
            int number = numbers[index];
            for (int shift = 28; shift > 0; shift -= 7) {
                if (number >> shift != 0) content.write(number >> shift & 127 | 128);
            }
            content.write(number & 127);
        }
        return node(6, content.toByteArray());
    }

    /** A critical extension. */
    private static byte[] extension(byte[] value, int... name) {
        return sequence(identifier(name), YES, node(OCTETS, value));
    }

    /** An extension that a reader may pass over. */
    static byte[] note(byte[] value, int... name) {
        return sequence(identifier(name), node(OCTETS, value));
    }

    /** A name of a country, an organization and a common name. */
    static byte[] name(String organization, String commonName) {
        return sequence(
            set(sequence(identifier(2, 5, 4, 6), node(19, ascii("US")))),
            set(sequence(identifier(2, 5, 4, 10), node(TEXT, ascii(organization)))),
            set(sequence(identifier(2, 5, 4, 3), node(TEXT, ascii(commonName)))));
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static KeyPair key() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC", "SunEC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        return generator.generateKeyPair();
    }

    /** A certificate for 30 days. */
    static X509Certificate certificate(
            byte[] subject, PublicKey key, byte[] issuer, PrivateKey by, byte[]... extensions) throws Exception {
        Instant now = Instant.now();
        byte[] content = sequence(
            tagged(0, integer(2)), integer(new SecureRandom().nextInt(Integer.MAX_VALUE) + 1L), ALGORITHM, issuer,
            sequence(time(now.minus(Duration.ofDays(1))), time(now.plus(Duration.ofDays(30)))), subject,
            key.getEncoded(), tagged(3, sequence(extensions)));
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(by);
        signature.update(content);
        byte[] whole = sequence(content, ALGORITHM, node(BITS, new byte[1], signature.sign()));
        return (X509Certificate) CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(whole));
    }

    private static byte[] time(Instant time) {
        return node(TIME, ascii(TIMES.format(time)));
    }

    static String pem(X509Certificate certificate) throws Exception {
        return "-----BEGIN CERTIFICATE-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate.getEncoded())
            + "\n-----END CERTIFICATE-----\n";
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) all.write(part, 0, part.length);
        return all.toByteArray();
    }
}
