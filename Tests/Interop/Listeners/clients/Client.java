// Java's HttpClient over HTTP/1.1 and HTTP/2, with expectContinue. A refusal in place of the 100 is not tried: the client of
// Java 17 waits for ever for the body of such an answer, from whatever server it comes.
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

public class Client {
    // The world comes as NAME=VALUE, so that no JSON library is needed; line feeds of a request are written \n.
    static String world(String name) { return System.getenv("WORLD_" + name); }

    static void expect(boolean truth, HttpResponse<String> found) {
        if (!truth) throw new AssertionError(found.request() + ": " + found.statusCode() + " " + found.body());
    }

    static SSLContext tls() throws Exception {
        var factory = CertificateFactory.getInstance("X.509");
        var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        trusted.setCertificateEntry("ca", factory.generateCertificate(Files.newInputStream(Path.of(world("CA")))));
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        var chain = factory.generateCertificates(Files.newInputStream(Path.of(world("CERTIFICATE"))));
        var text = Files.readString(Path.of(world("KEY"))).replaceAll("-----[A-Z ]+-----|\\s", "");
        var key = KeyFactory.getInstance("EC").generatePrivate(
            new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
        var own = KeyStore.getInstance(KeyStore.getDefaultType());
        own.load(null, null);
        own.setKeyEntry("device", key, new char[0], chain.toArray(new Certificate[0]));
        var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, new char[0]);
        var context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    static HttpRequest.Builder to(String url) {
        return HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(20));
    }

    public static void main(String[] arguments) throws Exception {
        for (var version : new HttpClient.Version[] {HttpClient.Version.HTTP_1_1, HttpClient.Version.HTTP_2}) {
            var client = HttpClient.newBuilder().version(version).sslContext(tls()).build();
            var json = "{\"csr\":\"" + world("CSR_" + version) + "\"}";
            var certified = client.send(
                to(world("PUBLIC") + "/certificates").header("Content-Type", "application/json").expectContinue(true)
                    .POST(BodyPublishers.ofString(json)).build(), BodyHandlers.ofString());
            expect(certified.statusCode() == 201 && certified.version() == version, certified);
            var calls = new ArrayList<CompletableFuture<Void>>();
            for (int i = 0; i < 20; i++) {
                calls.add(client.sendAsync(
                    to(world("CLIENT") + "/nonces").POST(BodyPublishers.noBody()).build(), BodyHandlers.ofString())
                    .thenAccept(found -> expect(found.statusCode() == 201, found)));
                calls.add(client.sendAsync(
                    to(world("CLIENT") + "/sessions/current")
                        .header("Authorization", "Layer session-token=\"" + world("TOKEN") + "\"").build(),
                    BodyHandlers.ofString())
                    .thenAccept(found -> expect(
                        found.statusCode() == 200 && found.body().contains(world("USER_ID")), found)));
            }
            CompletableFuture.allOf(calls.toArray(new CompletableFuture[0])).join();
            System.out.println(version == HttpClient.Version.HTTP_2 ? "HTTP/2" : "HTTP/1.1");
        }
        System.exit(0);
    }
}
