package org.countersign.client.store;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.Set;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;

/**
 * Stores key pairs as PEM files, mode 0600, in a separate directory, for programs on a JVM. On Android use
 * {@code AndroidKeystoreKeys}.
 */
public final class FileKeys implements DeviceKeys {
    private static final String SUFFIX = ".pem";
    private final File directory;

    /** Uses a directory, which is created with the first key. */
    public FileKeys(File directory) {
        this.directory = directory;
    }

    @Override
    public PublicKey make(String name) throws CountersignException {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = generator.generateKeyPair();
            String text = pem("PRIVATE KEY", pair.getPrivate()) + pem("PUBLIC KEY", pair.getPublic());
            AtomicFile.write(text.getBytes(StandardCharsets.US_ASCII), file(name));
            return pair.getPublic();
        } catch (GeneralSecurityException missing) {
            throw CountersignException.storage(StorageFailure.FAILED, missing);
        }
    }

    @Override
    public @Nullable PublicKey publicKey(String name) throws CountersignException {
        byte[] content = AtomicFile.read(file(name));
        if (content == null) return null;
        try {
            return KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(der(content, "PUBLIC KEY")));
        } catch (GeneralSecurityException | IllegalArgumentException damaged) {
            throw CountersignException.storage(StorageFailure.DAMAGED, damaged);
        }
    }

    @Override
    public PrivateKey privateKey(String name) throws CountersignException {
        byte[] content = AtomicFile.read(file(name));
        if (content == null) throw CountersignException.storage(StorageFailure.DAMAGED, null);
        try {
            return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der(content, "PRIVATE KEY")));
        } catch (GeneralSecurityException | IllegalArgumentException damaged) {
            throw CountersignException.storage(StorageFailure.DAMAGED, damaged);
        }
    }

    @Override
    public byte[] sign(byte[] message, String name) throws CountersignException {
        PrivateKey key = privateKey(name);
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(key);
            signature.update(message);
            return signature.sign();
        } catch (GeneralSecurityException damaged) {
            throw CountersignException.storage(StorageFailure.DAMAGED, damaged);
        }
    }

    @Override
    public void removeAllExcept(Set<String> names) throws CountersignException {
        String[] found = directory.list((folder, name) -> name.endsWith(SUFFIX));
        for (String name : found == null ? new String[0] : found) {
            String key = name.substring(0, name.length() - SUFFIX.length());
            if (!names.contains(key)) AtomicFile.remove(file(key));
        }
    }

    private File file(String name) {
        return new File(directory, name + SUFFIX);
    }

    private static String pem(String label, Key key) {
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded());
        return "-----BEGIN " + label + "-----\n" + base64 + "\n-----END " + label + "-----\n";
    }

    private static byte[] der(byte[] content, String label) {
        String text = new String(content, StandardCharsets.US_ASCII);
        String head = "-----BEGIN " + label + "-----\n";
        int start = text.indexOf(head);
        int end = text.indexOf("-----END " + label + "-----");
        if (start < 0 || end < start) throw new IllegalArgumentException("no " + label);
        return Base64.getMimeDecoder().decode(text.substring(start + head.length(), end));
    }
}
