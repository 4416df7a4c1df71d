package org.countersign.client.store;

import javax.annotation.Nullable;
import org.countersign.client.CountersignException;

/** Stores one secret: certificate and session of the device. A write replaces it completely or not at all. */
public interface SecretStore {
    /** The last written secret; null if there is none. */
    @Nullable byte[] read() throws CountersignException;

    /** Replaces the secret. After a crash either the old or the new secret exists. */
    void write(byte[] secret) throws CountersignException;

    /** Deletes the secret, if there is one. */
    void remove() throws CountersignException;
}
