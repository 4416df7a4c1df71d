package org.countersign.client.internal.wire;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.annotation.Nullable;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import okhttp3.OkHttpClient;
import org.countersign.client.CountersignException;
import org.countersign.client.store.DeviceKeys;
import org.countersign.client.store.StorageFailure;

/** The device's identity in handshakes: its certificate, and the handle of a key that does not leave its store. */
public final class Identity {
    public final String serial;
    final OkHttpClient http;

    private Identity(String serial, OkHttpClient http) {
        this.serial = serial;
        this.http = http;
    }

    /** Opens connections with a certificate (PEM) and the key of a name. */
    public static Identity open(
            Transport transport, String serial, String certificate, DeviceKeys keys, String keyName)
            throws CountersignException {
        try {
            X509Certificate[] chain = Pins.certificates(certificate).toArray(new X509Certificate[0]);
            return new Identity(serial, transport.mutual(new Handshakes(chain, keys.privateKey(keyName))));
        } catch (CertificateException notPem) {
            throw CountersignException.storage(StorageFailure.DAMAGED, notPem);
        }
    }

    /** Ends the connections that have no pending request. */
    public void close() {
        http.connectionPool().evictAll();
    }

    /** Shows one certificate to every server. */
    private static final class Handshakes extends X509ExtendedKeyManager {
        private static final String ALIAS = "device";
        private final X509Certificate[] chain;
        private final PrivateKey key;

        Handshakes(X509Certificate[] chain, PrivateKey key) {
            this.chain = chain;
            this.key = key;
        }

        @Override
        public @Nullable String chooseClientAlias(
                String[] types, @Nullable Principal[] issuers, @Nullable Socket socket) {
            return choose(types);
        }

        @Override
        public @Nullable String chooseEngineClientAlias(
                String[] types, @Nullable Principal[] issuers, @Nullable SSLEngine engine) {
            return choose(types);
        }

        private static @Nullable String choose(String[] types) {
            for (String type : types) if (type.startsWith("EC")) return ALIAS;
            return null;
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return chain.clone();
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return key;
        }

        @Override
        public String[] getClientAliases(String type, @Nullable Principal[] issuers) {
            return new String[] {ALIAS};
        }

        @Override
        public @Nullable String[] getServerAliases(String type, @Nullable Principal[] issuers) {
            return null;
        }

        @Override
        public @Nullable String chooseServerAlias(
                String type, @Nullable Principal[] issuers, @Nullable Socket socket) {
            return null;
        }
    }
}
