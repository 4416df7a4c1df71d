package org.countersign.client.support;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Reads the pins of a service, as a developer does before an app is built. */
final class Discovery {
    private Discovery() {}

    /** TLS with an authority's servers. */
    static SSLContext trusting(String authority) throws Exception {
        KeyStore roots = KeyStore.getInstance(KeyStore.getDefaultType());
        roots.load(null);
        roots.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(
            new ByteArrayInputStream(authority.getBytes(StandardCharsets.UTF_8))));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(roots);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        return tls;
    }

    static List<String> pins(String url, String authority) throws Exception {
        HttpsURLConnection connection = (HttpsURLConnection) new URL(url).openConnection();
        connection.setSSLSocketFactory(trusting(authority).getSocketFactory());
        List<String> pins = new ArrayList<>();
        try (Reader reader = new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8)) {
            JsonElement found = JsonParser.parseReader(reader);
            found.getAsJsonObject().getAsJsonArray("server_key_pins_sha256")
                .forEach(pin -> pins.add(pin.getAsString()));
        }
        return pins;
    }
}
