package org.countersign.client.permissions;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.Client;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.wire.Text;

/** Permissions of users to message each other. */
public final class Permissions {
    private final Client client;

    /** Made by {@code Countersign}. */
    public Permissions(Client client) {
        this.client = client;
    }

    /** Requests permission to message another user, given by user id or address, and returns the permission's id. */
    public UUID request(String user) throws CountersignException {
        return request(user, null, UUID.randomUUID());
    }

    public CompletableFuture<UUID> requestAsync(String user) {
        return client.async(() -> request(user));
    }

    /**
     * Requests permission to message another user. Repeating it with the same id returns the same result.
     *
     * @param user a user id or an address
     * @param event a text of the app, which the other user does not see
     */
    public UUID request(String user, @Nullable String event, UUID id) throws CountersignException {
        Map<String, Object> members = HttpCall.members("id", id.toString(), "to", user, "event_id", event);
        return client.perform(HttpCall.json("POST", "/authorizations", members).repeatable()).id("id");
    }

    public CompletableFuture<UUID> requestAsync(String user, @Nullable String event, UUID id) {
        return client.async(() -> request(user, event, id));
    }

    /**
     * Approves a request. It also ends this user's own request to the other user: two users have one permission.
     *
     * @return the permission, with another id if the other user approved this user's own request before
     */
    public Permission approve(UUID id) throws CountersignException {
        return post(id, "/approval");
    }

    public CompletableFuture<Permission> approveAsync(UUID id) {
        return client.async(() -> approve(id));
    }

    /** Rejects a request. */
    public Permission reject(UUID id) throws CountersignException {
        return post(id, "/rejection");
    }

    public CompletableFuture<Permission> rejectAsync(UUID id) {
        return client.async(() -> reject(id));
    }

    /** Withdraws a request, or ends a permission. */
    public Permission cancel(UUID id) throws CountersignException {
        return post(id, "/cancellation");
    }

    public CompletableFuture<Permission> cancelAsync(UUID id) {
        return client.async(() -> cancel(id));
    }

    /** Reads one permission. */
    public Permission show(UUID id) throws CountersignException {
        return new Permission(client.perform(HttpCall.of("GET", "/authorizations/" + id)));
    }

    public CompletableFuture<Permission> showAsync(UUID id) {
        return client.async(() -> show(id));
    }

    /**
     * Reads a page, newest first.
     *
     * @param state such as {@link Permission#REQUESTED}
     * @param cursor from the previous page
     */
    public Page list(@Nullable Permission.Box box, @Nullable String state, @Nullable String cursor)
            throws CountersignException {
        Map<String, String> query = new LinkedHashMap<>();
        query.put("box", box == null ? null : box == Permission.Box.IN ? "in" : "out");
        query.put("state", state);
        query.put("cursor", cursor);
        return new Page(client.perform(HttpCall.of("GET", Text.path("/authorizations", query))));
    }

    public CompletableFuture<Page> listAsync(
            @Nullable Permission.Box box, @Nullable String state, @Nullable String cursor) {
        return client.async(() -> list(box, state, cursor));
    }

    /** Every approved permission, read page by page. A newly installed app rebuilds its list from it. */
    public List<Permission> grants() throws CountersignException {
        List<Permission> found = new ArrayList<>();
        String cursor = null;
        while (true) {
            Page page = list(null, Permission.APPROVED, cursor);
            found.addAll(page.permissions);
            if (page.cursor == null || page.cursor.equals(cursor)) return found;
            cursor = page.cursor;
        }
    }

    public CompletableFuture<List<Permission>> grantsAsync() {
        return client.async(this::grants);
    }

    /** Blocks a user: permissions between the two end, and requests from that user are hidden. */
    public void block(UUID user) throws CountersignException {
        client.answer(HttpCall.of("PUT", "/blocks/" + user));
    }

    public CompletableFuture<Void> blockAsync(UUID user) {
        return client.asyncVoid(() -> block(user));
    }

    /** Ends a block. Ended permissions stay ended. */
    public void unblock(UUID user) throws CountersignException {
        client.answer(HttpCall.of("DELETE", "/blocks/" + user));
    }

    public CompletableFuture<Void> unblockAsync(UUID user) {
        return client.asyncVoid(() -> unblock(user));
    }

    /** Blocks the user who requested a permission, like {@link #block}, without the user's id. */
    public void blockRequester(UUID id) throws CountersignException {
        client.answer(HttpCall.of("POST", "/authorizations/" + id + "/block").repeatable());
    }

    public CompletableFuture<Void> blockRequesterAsync(UUID id) {
        return client.asyncVoid(() -> blockRequester(id));
    }

    /** Ends the block of the user who requested a permission. Ended permissions stay ended. */
    public void unblockRequester(UUID id) throws CountersignException {
        client.answer(HttpCall.of("DELETE", "/authorizations/" + id + "/block"));
    }

    public CompletableFuture<Void> unblockRequesterAsync(UUID id) {
        return client.asyncVoid(() -> unblockRequester(id));
    }

    private Permission post(UUID id, String action) throws CountersignException {
        return new Permission(
            client.perform(HttpCall.of("POST", "/authorizations/" + id + action).repeatable()));
    }

    /** A page of permissions. */
    public static final class Page {
        private final List<Permission> permissions;
        private final @Nullable String cursor;

        private Page(Json json) throws CountersignException {
            permissions = json.list("authorizations", Permission::new);
            cursor = json.optionalText("cursor");
        }

        public List<Permission> permissions() {
            return permissions;
        }

        /** For the next page; null on the last page. */
        public @Nullable String cursor() {
            return cursor;
        }
    }
}
