package org.countersign.client.internal.wire;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import javax.annotation.Nullable;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;

/**
 * Checks the server's certificate by its authority, and the key in it by the pins (RFC 7469 §2.4). Both happen within
 * the handshake, before the device shows its own certificate.
 */
final class Pins implements X509TrustManager {
    private final X509TrustManager authority;
    private final Set<String> pins;

    /** The server's key is not pinned. */
    static final class Mismatch extends CertificateException {
        private static final long serialVersionUID = 1;

        Mismatch(String shown) {
            super("The server is not trusted: its key is " + shown + ", which is not pinned.");
        }
    }

    /**
     * Trusts an authority.
     *
     * @param roots the authority's certificates, PEM; null for those of the operating system
     * @param pins the pins in base64url; any key is accepted if there are none
     */
    Pins(@Nullable String roots, Set<String> pins) throws CountersignException {
        this.pins = pins;
        try {
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(roots == null ? null : store(roots));
            authority = first(factory.getTrustManagers());
        } catch (GeneralSecurityException | IOException notPem) {
            throw new CountersignException(
                Kind.UNTRUSTED, "The server is not trusted: the app's authority is not a PEM certificate.", notPem);
        }
    }

    private static KeyStore store(String roots) throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        List<X509Certificate> found = certificates(roots);
        for (int index = 0; index < found.size(); index++) store.setCertificateEntry("root-" + index, found.get(index));
        return store;
    }

    private static X509TrustManager first(TrustManager[] managers) throws GeneralSecurityException {
        for (TrustManager one : managers) if (one instanceof X509TrustManager) return (X509TrustManager) one;
        throw new GeneralSecurityException("the platform checks no certificates");
    }

    /** The certificates of a PEM text, of which there is at least one. */
    static List<X509Certificate> certificates(String pem) throws CertificateException {
        Collection<? extends Certificate> all = CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(Text.utf8(pem)));
        List<X509Certificate> found = new ArrayList<>();
        for (Certificate one : all) if (one instanceof X509Certificate) found.add((X509Certificate) one);
        if (found.isEmpty()) throw new CertificateException("no certificate");
        return found;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String algorithm) throws CertificateException {
        authority.checkServerTrusted(chain, algorithm);
        String shown = Text.base64Url(Text.sha256(chain[0].getPublicKey().getEncoded()));
        if (!pins.isEmpty() && !pins.contains(shown)) throw new Mismatch(shown);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String algorithm) throws CertificateException {
        throw new CertificateException("A device has no clients.");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return authority.getAcceptedIssuers();
    }
}
