package android.security.keystore;

import java.security.spec.AlgorithmParameterSpec;

/** The part of Android's class that the library uses, for compiling without Android. */
public final class KeyGenParameterSpec implements AlgorithmParameterSpec {
    private final String alias;
    private final byte[] attestationChallenge;

    private KeyGenParameterSpec(String alias, byte[] attestationChallenge) {
        this.alias = alias;
        this.attestationChallenge = attestationChallenge;
    }

    public byte[] getAttestationChallenge() {
        return attestationChallenge;
    }

    public String getKeystoreAlias() {
        return alias;
    }

    public static final class Builder {
        private final String alias;
        private byte[] attestationChallenge;

        public Builder(String alias, int purposes) {
            this.alias = alias;
        }

        public Builder setAlgorithmParameterSpec(AlgorithmParameterSpec specification) {
            return this;
        }

        public Builder setDigests(String... digests) {
            return this;
        }

        public Builder setBlockModes(String... modes) {
            return this;
        }

        public Builder setEncryptionPaddings(String... paddings) {
            return this;
        }

        public Builder setKeySize(int bits) {
            return this;
        }

        public Builder setUserAuthenticationRequired(boolean isRequired) {
            return this;
        }

        public Builder setAttestationChallenge(byte[] challenge) {
            attestationChallenge = challenge;
            return this;
        }

        public Builder setIsStrongBoxBacked(boolean isBacked) {
            return this;
        }

        public KeyGenParameterSpec build() {
            return new KeyGenParameterSpec(alias, attestationChallenge);
        }
    }
}
