package org.countersign.client.store;

import android.os.Build;
import android.security.keystore.KeyGenParameterSpec;
import android.security.keystore.KeyPermanentlyInvalidatedException;
import android.security.keystore.KeyProperties;
import android.security.keystore.StrongBoxUnavailableException;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;

/**
 * Stores private keys in the hardware of an Android device, which signs and never reveals them: in StrongBox if there
 * is one, otherwise in the trusted execution environment.
 *
 * <p>This file was compiled against stubs of Android's classes. It was not run on a device.
 */
public final class AndroidKeystoreKeys implements DeviceKeys, KeyAttestor {
    private static final String PROVIDER = "AndroidKeyStore";
    private final String prefix;
    private final @Nullable UserPrompt prompt;

    /** Asks the user before a signature, for example with {@code BiometricPrompt}. */
    public interface UserPrompt {
        /**
         * Blocks until the device has recognized its user for this signature: give it to the prompt as its
         * {@code CryptoObject}.
         *
         * @throws Exception if the user was not recognized
         */
        void recognize(Signature signature) throws Exception;
    }

    /** Keys of this app that sign without asking the user. */
    public AndroidKeystoreKeys() {
        this("countersign", null);
    }

    private AndroidKeystoreKeys(String label, @Nullable UserPrompt prompt) {
        prefix = label + "/";
        this.prompt = prompt;
    }

    /** Keys that ask the user before each signature, for {@link Presence}. */
    public static AndroidKeystoreKeys askingUser(UserPrompt prompt) {
        return new AndroidKeystoreKeys("countersign-presence", prompt);
    }

    @Override
    public PublicKey make(String name) throws CountersignException {
        return make(name, null);
    }

    /**
     * Makes a key that the hardware attests.
     *
     * @return the certificates by which the hardware attests it, the key's own first (DER)
     */
    @Override
    public List<byte[]> attest(String keyName, byte[] challenge) throws CountersignException {
        make(keyName, challenge);
        try {
            Certificate[] chain = store().getCertificateChain(prefix + keyName);
            List<byte[]> found = new ArrayList<>();
            for (Certificate one : chain == null ? new Certificate[0] : chain) found.add(one.getEncoded());
            return found;
        } catch (GeneralSecurityException | ProviderException failure) {
            throw failure(failure);
        }
    }

    private PublicKey make(String name, @Nullable byte[] challenge) throws CountersignException {
        try {
            if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.P) {
                try {
                    return generate(specification(name, challenge).setIsStrongBoxBacked(true).build());
                } catch (StrongBoxUnavailableException none) {
                    // The device has no such hardware, or it is full.
                }
            }
            return generate(specification(name, challenge).build());
        } catch (GeneralSecurityException | ProviderException failure) {
            throw failure(failure);
        }
    }

    private KeyGenParameterSpec.Builder specification(String name, @Nullable byte[] challenge) {
        KeyGenParameterSpec.Builder builder = new KeyGenParameterSpec.Builder(prefix + name, KeyProperties.PURPOSE_SIGN)
            .setAlgorithmParameterSpec(new ECGenParameterSpec("secp256r1"))
            // Android's TLS hashes a handshake itself, and lets the key sign the digest.
            .setDigests(KeyProperties.DIGEST_SHA256, KeyProperties.DIGEST_NONE);
        if (prompt != null) builder.setUserAuthenticationRequired(true);
        if (challenge != null) builder.setAttestationChallenge(challenge);
        return builder;
    }

    private static PublicKey generate(KeyGenParameterSpec specification) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(KeyProperties.KEY_ALGORITHM_EC, PROVIDER);
        generator.initialize(specification);
        return generator.generateKeyPair().getPublic();
    }

    @Override
    public @Nullable PublicKey publicKey(String name) throws CountersignException {
        try {
            Certificate certificate = store().getCertificate(prefix + name);
            return certificate == null ? null : certificate.getPublicKey();
        } catch (GeneralSecurityException | ProviderException failure) {
            throw failure(failure);
        }
    }

    @Override
    public PrivateKey privateKey(String name) throws CountersignException {
        try {
            Key key = store().getKey(prefix + name, null);
            if (key instanceof PrivateKey) return (PrivateKey) key;
            throw CountersignException.storage(StorageFailure.DAMAGED, null);
        } catch (GeneralSecurityException | ProviderException failure) {
            throw failure(failure);
        }
    }

    @Override
    public byte[] sign(byte[] message, String name) throws CountersignException {
        PrivateKey key = privateKey(name);
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(key);
            if (prompt != null) ask(prompt, signature);
            signature.update(message);
            return signature.sign();
        } catch (GeneralSecurityException | ProviderException failure) {
            throw failure(failure);
        }
    }

    private static void ask(UserPrompt prompt, Signature signature) throws CountersignException {
        try {
            prompt.recognize(signature);
        } catch (Exception failure) {
            if (failure instanceof InterruptedException) {
                throw CountersignException.interrupted((InterruptedException) failure);
            }
            throw CountersignException.storage(StorageFailure.NOT_PRESENT, failure);
        }
    }

    @Override
    public void removeAllExcept(Set<String> names) throws CountersignException {
        try {
            KeyStore store = store();
            for (String alias : Collections.list(store.aliases())) {
                boolean isUsed = !alias.startsWith(prefix) || names.contains(alias.substring(prefix.length()));
                if (!isUsed) store.deleteEntry(alias);
            }
        } catch (GeneralSecurityException | ProviderException failure) {
            throw failure(failure);
        }
    }

    private static KeyStore store() throws GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(PROVIDER);
        try {
            store.load(null);
        } catch (IOException impossible) {
            throw new GeneralSecurityException(impossible);
        }
        return store;
    }

    private static CountersignException failure(Exception failure) {
        // A key that asks the user is deleted when the user enrols another finger or removes the screen lock.
        boolean isGone = failure instanceof KeyPermanentlyInvalidatedException;
        return CountersignException.storage(isGone ? StorageFailure.DAMAGED : StorageFailure.FAILED, failure);
    }
}
