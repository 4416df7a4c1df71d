package org.countersign.client.store;

import android.content.Context;
import android.security.keystore.KeyGenParameterSpec;
import android.security.keystore.KeyProperties;
import java.io.File;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.ProviderException;
import java.util.Arrays;
import javax.annotation.Nullable;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;
import javax.crypto.spec.GCMParameterSpec;
import org.countersign.client.CountersignException;

/**
 * Stores the secret in a file of the app that is sealed by a key in the hardware (AES-256-GCM). Android's backups
 * leave it out, and without the key of this device it cannot be opened.
 *
 * <p>This file was compiled against stubs of Android's classes. It was not run on a device.
 */
public final class EncryptedFileStore implements SecretStore {
    private static final String PROVIDER = "AndroidKeyStore";
    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final int NONCE_LENGTH = 12;
    private static final int TAG_BITS = 128;
    private final File file;
    private final String alias;

    /** The app's secret at its service. */
    public EncryptedFileStore(Context context) {
        this(context, "countersign");
    }

    /**
     * A secret by name, for an app that uses several services.
     *
     * @param name the name of the file and of its key
     */
    public EncryptedFileStore(Context context, String name) {
        file = new File(context.getNoBackupFilesDir(), name + ".sealed");
        alias = name + "-store";
    }

    @Override
    public @Nullable byte[] read() throws CountersignException {
        AtomicFile.removeDrafts(file);
        byte[] sealed = AtomicFile.read(file);
        if (sealed == null) return null;
        try {
            Key key = store().getKey(alias, null);
            // The file is of another device, or of an earlier installation. Its user is no longer signed in.
            if (key == null) return null;
            if (sealed.length < NONCE_LENGTH) throw CountersignException.storage(StorageFailure.DAMAGED, null);
            Cipher cipher = Cipher.getInstance(CIPHER);
            cipher.init(Cipher.DECRYPT_MODE, key, new GCMParameterSpec(TAG_BITS, sealed, 0, NONCE_LENGTH));
            return cipher.doFinal(sealed, NONCE_LENGTH, sealed.length - NONCE_LENGTH);
        } catch (GeneralSecurityException | ProviderException damaged) {
            throw CountersignException.storage(StorageFailure.DAMAGED, damaged);
        }
    }

    @Override
    public void write(byte[] secret) throws CountersignException {
        try {
            Cipher cipher = Cipher.getInstance(CIPHER);
            // The key store chooses the nonce, and lets no caller repeat one.
            cipher.init(Cipher.ENCRYPT_MODE, key());
            byte[] nonce = cipher.getIV();
            byte[] content = cipher.doFinal(secret);
            byte[] sealed = Arrays.copyOf(nonce, NONCE_LENGTH + content.length);
            System.arraycopy(content, 0, sealed, NONCE_LENGTH, content.length);
            AtomicFile.write(sealed, file);
        } catch (GeneralSecurityException | ProviderException failure) {
            throw CountersignException.storage(StorageFailure.FAILED, failure);
        }
    }

    @Override
    public void remove() throws CountersignException {
        AtomicFile.remove(file);
        try {
            store().deleteEntry(alias);
        } catch (GeneralSecurityException | ProviderException failure) {
            throw CountersignException.storage(StorageFailure.FAILED, failure);
        }
    }

    private Key key() throws GeneralSecurityException {
        Key key = store().getKey(alias, null);
        if (key != null) return key;
        KeyGenerator generator = KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, PROVIDER);
        generator.init(new KeyGenParameterSpec.Builder(
                alias, KeyProperties.PURPOSE_ENCRYPT | KeyProperties.PURPOSE_DECRYPT)
            .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
            .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
            .setKeySize(256)
            .build());
        return generator.generateKey();
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
}
