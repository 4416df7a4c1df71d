package org.countersign.client.user;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.Client;
import org.countersign.client.internal.wire.HttpCall;

/** The user's own data and settings. */
public final class Account {
    private final Client client;

    /** Made by {@code Countersign}. */
    public Account(Client client) {
        this.client = client;
    }

    /** Reads the user's proven data. */
    public Profile profile() throws CountersignException {
        return new Profile(client.perform(HttpCall.of("GET", "/me")));
    }

    public CompletableFuture<Profile> profileAsync() {
        return client.async(this::profile);
    }

    /**
     * Sets how long the service stores messages that the user writes or gets. It applies to later messages.
     *
     * @param storage {@code keep} or {@code until_delivered}
     */
    public Profile setMessageStorage(String storage) throws CountersignException {
        return new Profile(client.perform(patch(HttpCall.members("message_storage", storage))));
    }

    public CompletableFuture<Profile> setMessageStorageAsync(String storage) {
        return client.async(() -> setMessageStorage(storage));
    }

    /** Shows or hides when the user is online. A user who hides it does not see it of others. */
    public Profile setPresenceVisible(boolean isVisible) throws CountersignException {
        return new Profile(client.perform(patch(
            HttpCall.members("presence", isVisible ? "visible" : "hidden")).repeatable()));
    }

    public CompletableFuture<Profile> setPresenceVisibleAsync(boolean isVisible) {
        return client.async(() -> setPresenceVisible(isVisible));
    }

    /**
     * Registers this device for pushes, in place of its earlier endpoints. Call it after each sign-in and at each
     * start of the app, because the tokens of pushes change. Signing out removes the endpoints.
     *
     * @param endpoint the ARN of an Amazon SNS endpoint for all pushes; null for none
     * @param calls the ARN for incoming calls; null if they use {@code endpoint}
     */
    public void registerForPushes(@Nullable String endpoint, @Nullable String calls) throws CountersignException {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("push_endpoint", endpoint);
        members.put("call_endpoint", calls);
        client.perform(patch(members).repeatable());
    }

    public CompletableFuture<Void> registerForPushesAsync(@Nullable String endpoint, @Nullable String calls) {
        return client.asyncVoid(() -> registerForPushes(endpoint, calls));
    }

    /** Lists the apps that have sessions of the user, and those that the user forbids. */
    public List<AllowedApp> apps() throws CountersignException {
        return client.perform(HttpCall.of("GET", "/me/apps")).list("apps", AllowedApp::new);
    }

    public CompletableFuture<List<AllowedApp>> appsAsync() {
        return client.async(this::apps);
    }

    /** Forbids an app. Its sessions of the user end at once, and it cannot open others until {@link #allowApp}. */
    public void forbidApp(UUID app) throws CountersignException {
        client.answer(HttpCall.of("DELETE", "/me/apps/" + app));
    }

    public CompletableFuture<Void> forbidAppAsync(UUID app) {
        return client.asyncVoid(() -> forbidApp(app));
    }

    /** Lets an app open sessions of the user again. */
    public void allowApp(UUID app) throws CountersignException {
        client.answer(HttpCall.of("PUT", "/me/apps/" + app));
    }

    public CompletableFuture<Void> allowAppAsync(UUID app) {
        return client.asyncVoid(() -> allowApp(app));
    }

    private static HttpCall patch(Map<String, ?> members) {
        return HttpCall.json("PATCH", "/me", members);
    }
}
