import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Scanner;
import org.countersign.client.AccessToken;
import org.countersign.client.Countersign;
import org.countersign.client.Service;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.FileStore;
import org.countersign.client.user.Device;
import org.countersign.client.user.Nonce;
import org.countersign.client.user.Proof;

/** A device that signs in, with the SDK. Arguments: the public, client and backend URL, and a folder. */
final class HelloDevice {
    private static final Gson PRETTY = new GsonBuilder().setPrettyPrinting().create();
    private final Countersign countersign;
    private final String backend;
    private final String provider;

    private HelloDevice(String publicUrl, String clientUrl, String backend, Path folder) throws IOException {
        Service service = Service.builder(publicUrl, clientUrl).authority(text(folder.resolve("Keys/ca.pem"))).build();
        countersign = Countersign.builder(service)
            .keys(new FileKeys(folder.resolve("device-keys").toFile()))
            .store(new FileStore(new File(folder.toFile(), "device.json")))
            .build();
        this.backend = backend;
        provider = JsonParser.parseString(text(folder.resolve("provider.json"))).getAsJsonObject()
            .get("provider_id").getAsString();
    }

    public static void main(String[] arguments) throws Exception {
        new HelloDevice(arguments[0], arguments[1], arguments[2], Paths.get(arguments[3])).walk();
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    private void walk() throws Exception {
        Device device = countersign.certify(Proof.none());
        System.out.println("1  The device has a certificate: " + device.id());
        countersign.signIn(this::logIn);
        System.out.println("4  Countersign has opened a session, bound to the device");
        AccessToken token = countersign.accessToken(provider);
        System.out.println(
            "5  The device has a token for the backend, which only its key can use. The backend verifies it offline:");
        System.out.println(PRETTY.toJson(me(token)));
        countersign.signOut();
        long ended = System.nanoTime();
        JsonObject answer = me(token);
        while (!answer.has("error")) {
            if (System.nanoTime() - ended > 10_000_000_000L) {
                throw new IllegalStateException("No event arrived: the backend still accepts the token.");
            }
            answer = me(token);
        }
        System.out.printf(
            "6  The user has signed out. %.2f s later an event has come, and the backend says: %s%n",
            (System.nanoTime() - ended) / 1e9, answer.get("error_description").getAsString());
        countersign.close();
    }

    /** The backend checks the password, and signs an identity token around the nonce. */
    private String logIn(Nonce nonce) throws IOException {
        System.out.println("2  It has a nonce, over mutual TLS");
        JsonObject login = new JsonObject();
        login.addProperty("user", "ada");
        login.addProperty("password", "correct horse");
        login.addProperty("nonce", nonce.value());
        HttpURLConnection request = (HttpURLConnection) new URL(backend + "/login").openConnection();
        request.setRequestProperty("Content-Type", "application/json");
        request.setDoOutput(true);
        request.getOutputStream().write(login.toString().getBytes(StandardCharsets.UTF_8));
        String token = answer(request).get("identity_token").getAsString();
        System.out.println(
            "3  The backend has checked ada's password, and signed an identity token around the nonce");
        return token;
    }

    /** The backend's own call: it verifies the session by token and proof. */
    private JsonObject me(AccessToken token) throws IOException {
        String url = backend + "/me";
        HttpURLConnection request = (HttpURLConnection) new URL(url).openConnection();
        token.headers("GET", url).forEach(request::setRequestProperty);
        return answer(request);
    }

    private static JsonObject answer(HttpURLConnection request) throws IOException {
        boolean isRefusal = request.getResponseCode() >= 400;
        try (InputStream body = isRefusal ? request.getErrorStream() : request.getInputStream();
                Scanner text = new Scanner(body, "UTF-8").useDelimiter("\\A")) {
            return JsonParser.parseString(text.next()).getAsJsonObject();
        }
    }
}
