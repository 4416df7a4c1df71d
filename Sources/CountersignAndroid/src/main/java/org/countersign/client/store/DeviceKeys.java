package org.countersign.client.store;

import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.Set;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;

/** Stores the device's private P-256 keys and signs with them. No call returns the secret of a key. */
public interface DeviceKeys {
    /** Creates a key under a name, and returns its public key. */
    PublicKey make(String name) throws CountersignException;

    /** The public key; null if there is no key of this name. */
    @Nullable PublicKey publicKey(String name) throws CountersignException;

    /**
     * The handle of a key, with which TLS signs handshakes.
     *
     * @throws CountersignException with {@link StorageFailure#DAMAGED} if there is no key of this name
     */
    PrivateKey privateKey(String name) throws CountersignException;

    /** Signs a message with ECDSA and SHA-256, and returns the signature in DER (RFC 3279 §2.2.3). */
    byte[] sign(byte[] message, String name) throws CountersignException;

    /** Deletes every key except the named ones. */
    void removeAllExcept(Set<String> names) throws CountersignException;
}
