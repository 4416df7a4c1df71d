package org.countersign.client.api;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import org.countersign.client.AccessToken;
import org.countersign.client.Countersign;
import org.countersign.client.CountersignException;
import org.countersign.client.Reply;
import org.countersign.client.Request;
import org.countersign.client.Service;
import org.countersign.client.State;
import org.countersign.client.proof.Card;
import org.countersign.client.proof.CardResult;
import org.countersign.client.proof.PhoneVerification;
import org.countersign.client.store.DeviceKeys;
import org.countersign.client.store.Presence;
import org.countersign.client.store.SecretStore;
import org.countersign.client.user.Device;
import org.countersign.client.user.Profile;
import org.countersign.client.user.Proof;
import org.countersign.client.user.Session;

/** The app of the article, block by block, with what an app has besides. */
final class FirstApp {
    /** The app's own backend. */
    interface Backend {
        String identityToken(String nonce) throws Exception;
    }

    /** The user of the device. */
    interface User {
        String types(int digits) throws Exception;
    }

    String publicUrl;
    String clientUrl;
    String currentPin;
    String nextPin;
    String authority;
    DeviceKeys keys;
    DeviceKeys presenceKeys;
    SecretStore store;
    Backend backend;
    User user;
    String phoneNumber;
    String barcode;
    String providerId;
    final Executor mainThread = Runnable::run;
    final List<State> shown = new CopyOnWriteArrayList<>();
    final List<String> printed = new ArrayList<>();
    String me;

    private void print(String line) {
        printed.add(line);
    }

    private void show(State state) {
        shown.add(state);
    }

    /** The request to the app's backend, which is not sent. */
    HttpURLConnection run() throws Exception {
        Service service = Service.builder(publicUrl, clientUrl)
            .pin(currentPin).pin(nextPin).authority(authority).build();
        Countersign countersign = Countersign.builder(service)
            .keys(keys)
            .store(store)
            .presence(new Presence(presenceKeys, "fingerprint"))
            .build();

        Device device = countersign.certify(Proof.none());
        print("This device is " + device.id() + ".");

        Session session = countersign.signIn(nonce -> backend.identityToken(nonce.value()));
        print("Signed in as " + session.address() + ".");

        Session resumed = countersign.resume();
        print("Still " + resumed.address() + ".");

        PhoneVerification verification = countersign.phone().start(phoneNumber);
        String code = user.types(verification.digits());
        verification.check(code);

        CardResult result = countersign.card().submit(Card.aamva(barcode));
        Profile profile = countersign.account().profile();
        print("The card is " + result.status() + ", the level is " + profile.assurance() + ".");

        String cart = "https://shop.example/cart";
        HttpURLConnection request = (HttpURLConnection) new URL(cart).openConnection();
        Reply reply = countersign.call(Request.get("/me"));
        AccessToken token = countersign.accessToken(providerId);
        request.setRequestProperty("Authorization", "DPoP " + token.value());
        request.setRequestProperty("DPoP", token.proof("GET", cart));
        me = reply.text();

        countersign.addStateListener(mainThread, state -> show(state));

        try {
            countersign.signIn(nonce -> {
                throw new IOException("no network");
            });
        } catch (CountersignException failure) {
            switch (failure.kind()) {
                case PROVIDER:
                    print(failure.getMessage());
                    break;
                case BANNED:
                    print("Banned: " + failure.reason());
                    break;
                default:
                    print("Not signed in: " + failure.getMessage());
            }
        }

        countersign.signOut();
        countersign.close();
        return request;
    }
}
