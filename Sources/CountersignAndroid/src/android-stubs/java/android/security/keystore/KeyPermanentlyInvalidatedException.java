package android.security.keystore;

import java.security.InvalidKeyException;

/** Android's class, for compiling without Android. */
public class KeyPermanentlyInvalidatedException extends InvalidKeyException {
    private static final long serialVersionUID = 1;
}
