package org.countersign.client.storage;

import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.Set;
import org.countersign.client.CountersignException;
import org.countersign.client.store.DeviceKeys;
import org.countersign.client.store.SecretStore;
import org.countersign.client.store.StorageFailure;

/** Counts what is done with keys and secrets, and ends the app before a chosen one, or lets it fail from then on. */
final class Steps {
    private int left;
    private final boolean kills;

    private Steps(int left, boolean kills) {
        this.left = left;
        this.kills = kills;
    }

    /** Everything from a step on fails. */
    static Steps failing(int step) {
        return new Steps(step, false);
    }

    /** The process ends before a step, as if it was killed. */
    static Steps killing(int step) {
        return new Steps(step, true);
    }

    private synchronized void step() throws CountersignException {
        left--;
        if (left >= 0) return;
        if (kills) Runtime.getRuntime().halt(137);
        throw CountersignException.storage(StorageFailure.FAILED, null);
    }

    synchronized boolean isOver() {
        return left < 0;
    }

    SecretStore store(SecretStore store) {
        return new SecretStore() {
            @Override
            public byte[] read() throws CountersignException {
                step();
                return store.read();
            }

            @Override
            public void write(byte[] secret) throws CountersignException {
                step();
                store.write(secret);
                // The file is there, and its writer does not learn it.
                step();
            }

            @Override
            public void remove() throws CountersignException {
                step();
                store.remove();
            }
        };
    }

    DeviceKeys keys(DeviceKeys keys) {
        return new DeviceKeys() {
            @Override
            public PublicKey make(String name) throws CountersignException {
                step();
                PublicKey key = keys.make(name);
                step();
                return key;
            }

            @Override
            public PublicKey publicKey(String name) throws CountersignException {
                step();
                return keys.publicKey(name);
            }

            @Override
            public PrivateKey privateKey(String name) throws CountersignException {
                step();
                return keys.privateKey(name);
            }

            @Override
            public byte[] sign(byte[] message, String name) throws CountersignException {
                step();
                return keys.sign(message, name);
            }

            @Override
            public void removeAllExcept(Set<String> names) throws CountersignException {
                step();
                keys.removeAllExcept(names);
                step();
            }
        };
    }
}
