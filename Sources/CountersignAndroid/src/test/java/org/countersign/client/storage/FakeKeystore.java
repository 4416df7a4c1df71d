package org.countersign.client.storage;

import android.security.keystore.KeyGenParameterSpec;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyPairGeneratorSpi;
import java.security.KeyStoreSpi;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECGenParameterSpec;
import java.util.Collections;
import java.util.Date;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.KeyGenerator;
import javax.crypto.KeyGeneratorSpi;
import javax.crypto.SecretKey;

/** A stand-in for Android's key store that has keys in memory, and certificates of a maker of devices. */
public final class FakeKeystore extends Provider {
    /** Tests that use the stand-in come one after another. */
    public static final String NAME = "AndroidKeyStore";
    private static final long serialVersionUID = 1;
    static final Map<String, Key> KEYS = new ConcurrentHashMap<>();
    private static final Map<String, Certificate[]> CHAINS = new ConcurrentHashMap<>();
    private static volatile Hardware hardware = (key, challenge) -> Collections.emptyList();

    /** Attests the key pairs of a device. */
    public interface Hardware {
        List<? extends Certificate> chain(PublicKey key, byte[] challenge) throws Exception;
    }

    public FakeKeystore() {
        super(NAME, "1", "in memory");
        put("KeyPairGenerator.EC", Pairs.class.getName());
        put("KeyStore.AndroidKeyStore", Store.class.getName());
        put("KeyGenerator.AES", Generator.class.getName());
    }

    /** Begins without keys. */
    public static void begin(Hardware attesting) {
        KEYS.clear();
        CHAINS.clear();
        hardware = attesting;
    }

    /** Makes key pairs under the alias of a specification. */
    public static final class Pairs extends KeyPairGeneratorSpi {
        private KeyGenParameterSpec specification;

        @Override
        public void initialize(AlgorithmParameterSpec specification, SecureRandom random) {
            this.specification = (KeyGenParameterSpec) specification;
        }

        @Override
        public KeyPair generateKeyPair() {
            try {
                KeyPairGenerator generator = KeyPairGenerator.getInstance("EC", "SunEC");
                generator.initialize(new ECGenParameterSpec("secp256r1"));
                KeyPair pair = generator.generateKeyPair();
                String alias = specification.getKeystoreAlias();
                KEYS.put(alias, pair.getPrivate());
                List<? extends Certificate> chain = hardware.chain(
                    pair.getPublic(), specification.getAttestationChallenge());
                CHAINS.put(alias, chain.toArray(new Certificate[0]));
                return pair;
            } catch (Exception failure) {
                throw new IllegalStateException(failure);
            }
        }

        @Override
        public void initialize(int size, SecureRandom random) {
            throw new UnsupportedOperationException();
        }
    }

    /** Makes keys under the alias of a specification. */
    public static final class Generator extends KeyGeneratorSpi {
        private String alias;

        @Override
        protected void engineInit(AlgorithmParameterSpec specification, SecureRandom random) {
            alias = ((KeyGenParameterSpec) specification).getKeystoreAlias();
        }

        @Override
        protected SecretKey engineGenerateKey() {
            try {
                KeyGenerator generator = KeyGenerator.getInstance("AES", "SunJCE");
                generator.init(256);
                SecretKey key = generator.generateKey();
                KEYS.put(alias, key);
                return key;
            } catch (java.security.GeneralSecurityException missing) {
                throw new IllegalStateException(missing);
            }
        }

        @Override
        protected void engineInit(SecureRandom random) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void engineInit(int size, SecureRandom random) {
            throw new UnsupportedOperationException();
        }
    }

    /** The keys by alias. */
    public static final class Store extends KeyStoreSpi {
        @Override
        public Key engineGetKey(String alias, char[] password) throws NoSuchAlgorithmException {
            return KEYS.get(alias);
        }

        @Override
        public void engineDeleteEntry(String alias) {
            KEYS.remove(alias);
        }

        @Override
        public Enumeration<String> engineAliases() {
            return Collections.enumeration(KEYS.keySet());
        }

        @Override
        public boolean engineContainsAlias(String alias) {
            return KEYS.containsKey(alias);
        }

        @Override
        public int engineSize() {
            return KEYS.size();
        }

        @Override
        public boolean engineIsKeyEntry(String alias) {
            return engineContainsAlias(alias);
        }

        @Override
        public boolean engineIsCertificateEntry(String alias) {
            return false;
        }

        @Override
        public void engineLoad(InputStream stream, char[] password) {}

        @Override
        public void engineStore(OutputStream stream, char[] password) {}

        @Override
        public Certificate[] engineGetCertificateChain(String alias) {
            return CHAINS.get(alias);
        }

        @Override
        public Certificate engineGetCertificate(String alias) {
            Certificate[] chain = CHAINS.get(alias);
            return chain == null ? null : chain[0];
        }

        @Override
        public String engineGetCertificateAlias(Certificate certificate) {
            return null;
        }

        @Override
        public Date engineGetCreationDate(String alias) {
            return new Date(0);
        }

        @Override
        public void engineSetKeyEntry(String alias, Key key, char[] password, Certificate[] chain) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void engineSetKeyEntry(String alias, byte[] key, Certificate[] chain) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void engineSetCertificateEntry(String alias, Certificate certificate) {
            throw new UnsupportedOperationException();
        }
    }
}
