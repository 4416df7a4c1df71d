package org.countersign.client.support;

import java.security.KeyPair;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;

/** A maker of devices, which attests keys as Android's secure hardware does. */
public final class KeyMint {
    static final String PACKAGE = "com.example.app";
    private static final byte[] APP_SIGNER = new byte[32];
    private static final byte[] ROOT = Der.name("Example", "Root");
    private static final byte[] BATCH = Der.name("Example", "TEE");
    private final KeyPair root = Der.key();
    private final KeyPair batch = Der.key();

    public KeyMint() throws Exception {}

    /** The root's certificate in PEM. */
    String root() throws Exception {
        return Der.pem(Der.certificate(ROOT, root.getPublic(), ROOT, root.getPrivate(), Der.AUTHORITY));
    }

    /** The digest of the certificate that signs the app, in hexadecimal digits. */
    static String appSigner() {
        StringBuilder digits = new StringBuilder();
        for (byte one : APP_SIGNER) digits.append(String.format("%02x", one));
        return digits.toString();
    }

    /** The certificates of a key, its own first. The device leaves the root out. */
    public List<X509Certificate> chain(PublicKey key, byte[] challenge) throws Exception {
        X509Certificate leaf = Der.certificate(
            Der.name("Example", "Android Keystore Key"), key, BATCH, batch.getPrivate(),
            Der.note(description(challenge), 1, 3, 6, 1, 4, 1, 11129, 2, 1, 17));
        return Arrays.asList(leaf, Der.certificate(
            BATCH, batch.getPublic(), ROOT, root.getPrivate(), Der.AUTHORITY, Der.SIGNS_CERTIFICATES));
    }

    /** A key of the trusted execution environment, on a locked device with a verified system. */
    private static byte[] description(byte[] challenge) {
        byte[] level = Der.node(Der.ENUMERATED, new byte[] {1});
        byte[] app = Der.sequence(
            Der.set(Der.sequence(Der.node(Der.OCTETS, Der.ascii(PACKAGE)), Der.integer(1))),
            Der.set(Der.node(Der.OCTETS, APP_SIGNER)));
        byte[] boot = Der.sequence(
            Der.node(Der.OCTETS, new byte[32]), Der.node(Der.BOOLEAN, new byte[] {-1}),
            Der.node(Der.ENUMERATED, new byte[] {0}), Der.node(Der.OCTETS, new byte[32]));
        return Der.sequence(
            Der.integer(300), level, Der.integer(300), level, Der.node(Der.OCTETS, challenge), Der.node(Der.OCTETS),
            Der.sequence(Der.tagged(709, Der.node(Der.OCTETS, app))),
            Der.sequence(
                Der.tagged(1, Der.set(Der.integer(2))), Der.tagged(702, Der.integer(0)), Der.tagged(704, boot),
                Der.tagged(706, Der.integer(202_603))));
    }
}
