package org.countersign.client.storage;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.countersign.client.Countersign;
import org.countersign.client.CountersignException;
import org.countersign.client.IdentityTokenSource;
import org.countersign.client.Service;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.FileStore;
import org.countersign.client.store.Presence;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Proof;

/** An app that certifies, signs in and proves presence until it dies: as a process of its own, or within a test. */
final class DyingApp {
    private DyingApp() {}

    static DeviceKeysOf keys(Path place) {
        return new DeviceKeysOf(place);
    }

    /** The keys of a device's directory. */
    static final class DeviceKeysOf {
        final FileKeys device;
        final FileKeys presence;

        DeviceKeysOf(Path place) {
            device = new FileKeys(place.resolve("keys").toFile());
            presence = new FileKeys(place.resolve("presence").toFile());
        }
    }

    static void live(Service service, Path place, Steps steps, IdentityTokenSource source) throws CountersignException {
        DeviceKeysOf keys = keys(place);
        try (Countersign client = Countersign.builder(service)
                .keys(steps.keys(keys.device))
                .store(steps.store(new FileStore(place.resolve("secret.json").toFile())))
                .presence(new Presence(steps.keys(keys.presence), "pin"))
                .httpClient(TestApp.http())
                .build()) {
            client.certify(Proof.none());
            client.signIn(source);
            client.phone().start("+14155550107");
        }
    }

    /**
     * Arguments: public and client URL, authority, place, step. An identity token is read for each nonce that is
     * printed.
     */
    public static void main(String[] arguments) throws IOException {
        String authority = new String(Files.readAllBytes(Paths.get(arguments[2])), StandardCharsets.UTF_8);
        Service service = Service.builder(arguments[0], arguments[1]).authority(authority).build();
        java.io.BufferedReader input = new java.io.BufferedReader(
            new java.io.InputStreamReader(System.in, StandardCharsets.UTF_8));
        live(service, new File(arguments[3]).toPath(), Steps.killing(Integer.parseInt(arguments[4])), nonce -> {
            System.out.println(nonce.value());
            return input.readLine();
        });
        System.out.println("lived");
    }
}
