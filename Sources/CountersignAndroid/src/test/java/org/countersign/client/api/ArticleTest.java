package org.countersign.client.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.countersign.client.State;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.FileStore;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.Place;
import org.countersign.client.support.TestApp;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The article of the SDK")
final class ArticleTest {
    private static final Path SDK = Place.ROOT.resolve("Sources/CountersignAndroid");

    @Test
    @DisplayName("has the code of an app that is compiled here, line by line and in its order")
    void blocks() throws Exception {
        List<String> app = Files.readAllLines(
            SDK.resolve("src/test/java/org/countersign/client/api/FirstApp.java"));
        boolean isCode = false;
        int from = 0;
        int count = 0;
        for (String line : Files.readAllLines(SDK.resolve("FirstApp.md"))) {
            if (line.startsWith("```")) {
                isCode = line.equals("```java");
            } else if (isCode) {
                int found = app.subList(from, app.size()).indexOf(line.isEmpty() ? line : "        " + line);
                assertTrue(found >= 0, "FirstApp lacks: " + line);
                from += found + 1;
                count++;
            }
        }
        assertTrue(count > 30, count + " lines");
    }

    @Test
    @DisplayName("leads from an empty app to a verified user")
    void firstApp() throws Exception {
        String policy = "presence_required: true\n";
        try (LiveService service = new LiveService(Collections.singletonMap("phones.yaml", policy))) {
            Path place = Place.make();
            FirstApp app = new FirstApp();
            app.publicUrl = service.service().publicUrl();
            app.clientUrl = service.service().clientUrl();
            app.currentPin = service.pins.get(0);
            app.nextPin = service.pins.get(service.pins.size() - 1);
            app.authority = service.authority;
            app.keys = new FileKeys(place.resolve("keys").toFile());
            app.presenceKeys = new FileKeys(place.resolve("presence").toFile());
            app.store = new FileStore(place.resolve("secret.json").toFile());
            app.phoneNumber = "+14155550155";
            app.backend = nonce -> service.identityToken("alice", nonce, 0);
            app.user = digits -> service.code(app.phoneNumber);
            app.barcode = service.barcode();
            app.providerId = service.provider;
            // Java shows no header that it regards as secret, so only the proof is read.
            String proof = app.run().getRequestProperty("DPoP");
            assertEquals(3, proof.split("\\.").length);
            assertEquals(
                Arrays.asList(
                    "Signed in as devices/alice.", "Still devices/alice.",
                    "The card is verified, the level is barcode.",
                    "The provider returned no identity token: java.io.IOException: no network"),
                app.printed.subList(1, app.printed.size()));
            assertTrue(app.me.contains("\"address\""), app.me);
            TestApp.eventually(() -> app.shown.contains(State.CONNECTED_UNAUTHENTICATED));
            assertEquals(State.CONNECTED_AUTHENTICATED, app.shown.get(0));
        }
    }
}
