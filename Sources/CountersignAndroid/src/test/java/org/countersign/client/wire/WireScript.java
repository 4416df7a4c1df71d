package org.countersign.client.wire;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.countersign.client.Countersign;
import org.countersign.client.Request;
import org.countersign.client.Service;
import org.countersign.client.permissions.Permission;
import org.countersign.client.permissions.Permissions;
import org.countersign.client.proof.Card;
import org.countersign.client.proof.PhoneVerification;
import org.countersign.client.proof.WalletClaim;
import org.countersign.client.store.FileKeys;
import org.countersign.client.store.FileStore;
import org.countersign.client.store.Presence;
import org.countersign.client.streams.MessagePart;
import org.countersign.client.streams.MessageStream;
import org.countersign.client.streams.NewMessage;
import org.countersign.client.streams.StreamOpening;
import org.countersign.client.streams.Streams;
import org.countersign.client.user.Account;
import org.countersign.client.user.Proof;

/** The same calls as those of the Swift library's script, against a recorder. */
public final class WireScript {
    private static final UUID ID = UUID.fromString("22222222-2222-4222-8222-222222222222");
    private static final UUID OTHER = UUID.fromString("33333333-3333-4333-8333-333333333333");

    private WireScript() {}

    /** Arguments: public URL, client URL, the authority's file, and a folder. */
    public static void main(String[] arguments) throws Exception {
        String authority = new String(Files.readAllBytes(Paths.get(arguments[2])), StandardCharsets.UTF_8);
        Path place = Paths.get(arguments[3]);
        Service service = Service.builder(arguments[0], arguments[1]).authority(authority).appId(OTHER).build();
        FileKeys attestedKeys = new FileKeys(place.resolve("attested-keys").toFile());
        try (Countersign client = Countersign.builder(service)
                .keys(new FileKeys(place.resolve("keys").toFile()))
                .store(new FileStore(place.resolve("secret.json").toFile()))
                .presence(new Presence(new FileKeys(place.resolve("presence").toFile()), "pin"))
                .build();
            Countersign attested = Countersign.builder(service).keys(attestedKeys)
                .store(new FileStore(place.resolve("attested.json").toFile())).build()) {
            attested.certify((name, challenge) -> {
                attestedKeys.make(name);
                return Arrays.asList(new byte[] {1, 2, 3}, new byte[] {-1});
            });
            client.certify(Proof.enrolmentToken("enrolment"));
            client.signIn(nonce -> "identity-token of " + nonce.value());
            client.resume();
            client.call(Request.get("/sessions/current"));
            user(client);
            permissions(client.permissions());
            streams(client.streams());
            client.accessToken("https://api.example.com/?a=b&c");
            client.signOutEverywhere();
        }
    }

    private static void user(Countersign client) throws Exception {
        PhoneVerification verification = client.phone().start("+14155550101", "US", "arn:aws:sns:one");
        verification.resend();
        verification.check("000000");
        client.card().submit(Card.aamva("@\n\u001e\rANSI"));
        client.card().submit(Card.mrz("P<UTO", "L898902C3"));
        client.card().result(ID);
        String credential = "{\"protocol\":\"openid4vp-v1-signed\",\"data\":{\"response\":\"jwe\"}}";
        client.card().present(WalletClaim.OVER_18, "https://app.example", requests ->
            CompletableFuture.completedFuture(credential));
        client.card().present(WalletClaim.OVER_18, URI.create("https://app.example/wallet"), link ->
            CompletableFuture.completedFuture(URI.create("https://app.example/wallet#response_code=code")));
        Account account = client.account();
        account.profile();
        account.setMessageStorage("until_delivered");
        account.setPresenceVisible(false);
        account.registerForPushes("arn:aws:sns:one", null);
        account.apps();
        account.forbidApp(ID);
        account.allowApp(ID);
    }

    private static void permissions(Permissions permissions) throws Exception {
        permissions.request("devices/bob", "event \u00e9", ID);
        permissions.approve(ID);
        permissions.reject(ID);
        permissions.cancel(ID);
        permissions.show(ID);
        permissions.list(Permission.Box.OUT, Permission.APPROVED, "next page+/=");
        permissions.list(null, null, null);
        permissions.grants();
        permissions.block(ID);
        permissions.unblock(ID);
        permissions.blockRequester(ID);
        permissions.unblockRequester(ID);
    }

    private static void streams(Streams streams) throws Exception {
        StreamOpening opening = StreamOpening.conversation(Arrays.asList("devices/bob"), ID)
            .title("Plans").about("What we do").imageUrl("https://example.com/a.png")
            .metadata(Collections.singletonMap("a", Arrays.asList(1L, true, null, 0.5)));
        streams.open(opening);
        NewMessage message = new NewMessage(
            OTHER,
            Arrays.asList(MessagePart.text("one \ud83d\ude00"), MessagePart.bytes(new byte[] {0, -1}, "image/png")),
            ID);
        streams.append(ID, message);
        streams.list(MessageStream.FORUM, "next");
        streams.show(ID);
        streams.messagesAfter(ID, 7, 100);
        streams.messagesBefore(ID, null, 2);
        streams.acknowledge(ID, 9L, 2L);
        streams.typing(ID);
        streams.add(ID, OTHER);
        streams.remove(ID, OTHER);
        streams.deleteMessage(ID, OTHER);
        streams.deleteMessageForMe(ID, OTHER);
        streams.synchronize("0", 0);
        streams.delete(ID);
    }
}
