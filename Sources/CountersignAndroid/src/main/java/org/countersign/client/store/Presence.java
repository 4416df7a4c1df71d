package org.countersign.client.store;

import java.security.PublicKey;
import java.time.Instant;
import java.util.Base64;
import java.util.UUID;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.DeviceToken;

/**
 * A key that signs only after the device has recognized its user, for a service that requires presence proofs.
 *
 * <p>The device registers the key when it is certified, and each start of a phone verification carries a proof. A
 * device that was certified without it has no such key.
 */
public final class Presence {
    private final DeviceKeys keys;
    private final String method;

    /**
     * Uses keys whose {@code sign} asks the user, and throws {@link StorageFailure#NOT_PRESENT} if the user is not
     * recognized.
     *
     * @param method how the device recognizes its user, such as {@code fingerprint}: 1 to 64 bytes. The service stores
     *     only this.
     */
    public Presence(DeviceKeys keys, String method) {
        this.keys = keys;
        this.method = method;
    }

    public DeviceKeys keys() {
        return keys;
    }

    /** Creates a key, and returns its name. */
    public String make() throws CountersignException {
        String name = UUID.randomUUID().toString();
        keys.make(name);
        return name;
    }

    /** The public key as PEM (RFC 7468 §13), for registration. */
    public String publicKey(String name) throws CountersignException {
        PublicKey key = keys.publicKey(name);
        if (key == null) throw CountersignException.storage(StorageFailure.DAMAGED, null);
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded());
        return "-----BEGIN PUBLIC KEY-----\n" + base64 + "\n-----END PUBLIC KEY-----";
    }

    /** Asks the user, and signs for a number. Spaces and other marks between its digits are ignored. */
    public String proof(String number, String nonce, String keyName, Instant time) throws CountersignException {
        return new DeviceToken(keys, keyName).presenceProof(nonce, method, number, time);
    }
}
