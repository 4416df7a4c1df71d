package org.countersign.client.store;

import java.util.List;

/**
 * Makes the device's key with a proof that it is in secure hardware. A service with the gate {@code attested} requires
 * it before it certifies the device. {@code AndroidKeystoreKeys} is one.
 */
public interface KeyAttestor {
    /**
     * Makes a key in place of {@link DeviceKeys#make}, attested by the key store of Android.
     *
     * @param keyName the name under which the client's {@link DeviceKeys} find the key afterwards
     * @param challenge what the attestation contains: {@code setAttestationChallenge} of the key's specification
     * @return the certificates in DER, the key's own first: {@code getCertificateChain} of the key store
     */
    List<byte[]> attest(String keyName, byte[] challenge) throws Exception;
}
