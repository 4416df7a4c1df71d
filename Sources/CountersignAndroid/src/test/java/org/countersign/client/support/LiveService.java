package org.countersign.client.support;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.countersign.client.IdentityTokenSource;
import org.countersign.client.Service;

/** The service's binary, running, with a provider whose backend is the test. */
public final class LiveService implements AutoCloseable {
    private final Path directory = Place.make();
    private final ProviderTokens tokens;
    private int publicPort;
    public int clientPort;
    private Process process;
    public final String provider;
    public final String authority;
    public final List<String> pins;

    public LiveService() throws Exception {
        this(Collections.emptyMap());
    }

    /** Replaces policies of the repository, by the names of their files. */
    public LiveService(Map<String, String> policies) throws Exception {
        Place.copy(Place.ROOT.resolve("Policies"), directory.resolve("Policies"));
        for (Map.Entry<String, String> one : policies.entrySet()) {
            Files.write(directory.resolve("Policies").resolve(one.getKey()), bytes(one.getValue()));
        }
        admin("keys", "init");
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair key = generator.generateKeyPair();
        String pem = "-----BEGIN PUBLIC KEY-----\n"
            + Base64.getMimeEncoder().encodeToString(key.getPublic().getEncoded()) + "\n-----END PUBLIC KEY-----\n";
        Files.write(directory.resolve("provider.pem"), bytes(pem));
        JsonObject added = JsonParser.parseString(admin(
            "provider", "add", "--name", "Devices", "--slug", "devices", "--key",
            directory.resolve("provider.pem").toString(), "--json")).getAsJsonObject();
        provider = added.get("provider_id").getAsString();
        tokens = new ProviderTokens(key.getPrivate(), provider, added.get("key_id").getAsString());
        // The service is killed and started again: its ports stay.
        for (int attempt = 0; process == null || !process.isAlive(); attempt++) {
            publicPort = freePort();
            clientPort = freePort();
            try {
                start();
            } catch (AssertionError failure) {
                // Somebody else may take a port between its choice and the start.
                if (attempt == 4 || !failure.getMessage().contains("Address already in use")) throw failure;
            }
        }
        authority = text(directory.resolve("Keys/ca.pem"));
        pins = Discovery.pins("https://127.0.0.1:" + publicPort + "/", authority);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    /** A port below those that the kernel gives to clients: no connection takes it while the service is away. */
    private static int freePort() throws IOException {
        for (int attempt = 0; attempt < 1000; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 32_000);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (BindException taken) {
                // Another one is tried.
            }
        }
        throw new IOException("no port between 10000 and 32000 is free");
    }

    private List<String> command(String... words) {
        List<String> command = new ArrayList<>();
        command.add(Place.BINARY);
        command.addAll(Arrays.asList(words));
        command.addAll(Arrays.asList(
            "--keys", directory.resolve("Keys").toString(), "--policies", directory.resolve("Policies").toString(),
            "--store", "sqlite:" + directory.resolve("store.db")));
        return command;
    }

    /** Runs an admin command, expects it to succeed, and returns its output. */
    public String admin(String... words) throws Exception {
        Path output = Files.createTempFile(directory, "out", "");
        Path errors = Files.createTempFile(directory, "err", "");
        Process done = new ProcessBuilder(command(words)).directory(directory.toFile())
            .redirectOutput(output.toFile()).redirectError(errors.toFile()).start();
        if (!done.waitFor(180, TimeUnit.SECONDS) || done.exitValue() != 0) {
            throw new AssertionError(String.join(" ", words) + ": " + text(errors));
        }
        return text(output);
    }

    /** Starts the service again with the roots and the app of a maker's devices. */
    public void trustDevices(KeyMint mint) throws Exception {
        Path roots = Files.createDirectory(directory.resolve("Keys/attestation"));
        Files.write(roots.resolve("android.pem"), bytes(mint.root()));
        String app = JsonParser.parseString(admin("provider", "app", "list", "devices", "--json")).getAsJsonArray()
            .get(0).getAsJsonObject().get("app_id").getAsString();
        admin(
            "provider", "app", "attest", "add", app, "--android", KeyMint.PACKAGE, "--certificate",
            KeyMint.appSigner());
        kill();
        start();
    }

    /** What is known about a device's key. */
    public String attestation(UUID device) throws Exception {
        return JsonParser.parseString(admin("device", "show", device.toString(), "--json")).getAsJsonObject()
            .get("device_attestation").getAsString();
    }

    /** A wallet of this device, whose issuer the service trusts from its next start. */
    public LinkedWallet linkedWallet() throws Exception {
        LinkedWallet wallet = new LinkedWallet(authority);
        Path issuers = Files.createDirectories(directory.resolve("Keys/issuers"));
        Files.write(issuers.resolve("test.pem"), bytes(wallet.issuer()));
        return wallet;
    }

    /**
     * Starts the service again with an invented issuer of licences, for wallets that these origins call or that return
     * to these addresses.
     */
    public void enableWallets(String... origins) throws Exception {
        admin("sample", "wallet", "issuer");
        for (String origin : origins) admin("provider", "origin", "add", "devices", origin);
        Files.write(directory.resolve("Policies/wallet.yaml"), bytes("enabled: true\n"));
        kill();
        start();
    }

    /** What an invented wallet answers to requests. */
    public String walletAnswer(String requests, String origin) throws Exception {
        Path file = Files.createTempFile(directory, "requests", ".json");
        Files.write(file, bytes(requests));
        return admin("sample", "wallet", "answer", file.toString(), "--origin", origin);
    }

    /** Starts the service on the same files and ports. */
    public void start() throws Exception {
        Path ready = directory.resolve("ready");
        List<String> command = command("serve", "--public", "127.0.0.1:" + publicPort, "--client",
            "127.0.0.1:" + clientPort, "--ops", "127.0.0.1:0", "--limits", "off");
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile())
            .redirectOutput(ready.toFile())
            .redirectError(ProcessBuilder.Redirect.appendTo(directory.resolve("log").toFile()));
        builder.environment().put("COUNTERSIGN_TEXTS", directory.resolve("texts.jsonl").toString());
        process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        for (int attempt = 0; attempt < 2400 && process.isAlive(); attempt++) {
            if (text(ready).endsWith("\n")) return;
            Thread.sleep(50);
        }
        throw new AssertionError("The service is not ready: " + text(directory.resolve("log")));
    }

    /** Ends the service as a power cut would. */
    public void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
        }
    }

    @Override
    public void close() {
        kill();
        Place.delete(directory);
    }

    /** What an app would have compiled in. */
    public Service service() {
        return service(clientPort, pins);
    }

    /** The service with other pins, or through a relay's port. */
    public Service service(int port, List<String> pins) {
        Service.Builder builder = Service
            .builder("https://127.0.0.1:" + publicPort, "https://127.0.0.1:" + port).authority(authority);
        pins.forEach(builder::pin);
        return builder.build();
    }

    /** The provider's backend: an identity token of a user, issued at another time than now if the clock is wrong. */
    public String identityToken(String user, String nonce, long secondsAhead) throws Exception {
        return tokens.identityToken(user, nonce, secondsAhead);
    }

    public IdentityTokenSource source(String user) {
        return nonce -> identityToken(user, nonce.value(), 0);
    }

    /** A source that counts how often it is asked. */
    public IdentityTokenSource source(String user, AtomicInteger count) {
        return nonce -> {
            count.incrementAndGet();
            return identityToken(user, nonce.value(), 0);
        };
    }

    /** How many texts were sent. */
    public int texts() throws IOException {
        Path file = directory.resolve("texts.jsonl");
        return Files.exists(file) ? Files.readAllLines(file).size() : 0;
    }

    /** The code in the last text to a number. */
    public String code(String number) throws Exception {
        for (int attempt = 0; attempt < 200; attempt++) {
            Path file = directory.resolve("texts.jsonl");
            List<String> lines = Files.exists(file) ? Files.readAllLines(file) : Collections.emptyList();
            Collections.reverse(lines = new ArrayList<>(lines));
            for (String line : lines) {
                JsonObject sent = JsonParser.parseString(line).getAsJsonObject();
                String text = sent.get("text").getAsString();
                if (sent.get("to").getAsString().equals(number)) return text.substring(text.lastIndexOf('#') + 1);
            }
            Thread.sleep(50);
        }
        throw new AssertionError("no text to " + number);
    }

    /** The barcode of an invented card. */
    public String barcode() throws Exception {
        return JsonParser.parseString(admin("sample", "card", "--json")).getAsJsonObject().get("barcode").getAsString();
    }
}
