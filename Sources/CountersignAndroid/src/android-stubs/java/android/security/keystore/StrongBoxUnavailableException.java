package android.security.keystore;

import java.security.ProviderException;

/** Android's class, for compiling without Android. */
public class StrongBoxUnavailableException extends ProviderException {
    private static final long serialVersionUID = 1;
}
