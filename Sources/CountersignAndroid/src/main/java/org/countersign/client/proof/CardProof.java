package org.countersign.client.proof;

import java.net.URI;
import java.util.Collections;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.internal.Client;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.wire.JsonText;
import org.countersign.client.internal.wire.Text;

/** The proof of an identity by a card. */
public final class CardProof {
    private static final String PRESENTATIONS = "/identity-cards/presentations";
    private static final String RESPONSE_CODE = "response_code=";
    private final Client client;

    /** Made by {@code Countersign}. */
    public CardProof(Client client) {
        this.client = client;
    }

    /**
     * Submits a card. Each submission is counted, so it is not repeated if the response is lost.
     *
     * @throws CountersignException {@code card_rejected} with the checks, {@code conflict} before a phone number is
     *     proven, or {@code rate_limited}
     */
    public CardResult submit(Card card) throws CountersignException {
        return new CardResult(client.perform(HttpCall.json("POST", "/identity-cards", card.members)));
    }

    public CompletableFuture<CardResult> submitAsync(Card card) {
        return client.async(() -> submit(card));
    }

    /** The current state of a card in review. */
    public CardResult result(UUID id) throws CountersignException {
        return new CardResult(client.perform(HttpCall.of("GET", "/identity-cards/" + id)));
    }

    public CompletableFuture<CardResult> resultAsync(UUID id) {
        return client.async(() -> result(id));
    }

    /**
     * Asks the user's wallet for a credential, and sends its answer to the service. It waits for the user.
     *
     * @param origin the name of the native app, or the address of the page, that calls the wallet. It is registered
     *     with the service.
     * @throws CountersignException {@code presentation_rejected} with the reason. For an identity also {@code
     *     card_rejected}, and {@code conflict} before a phone number is proven. {@code rate_limited}. The kind is
     *     {@code WALLET} if the wallet presented nothing: the request is then deleted.
     */
    public WalletResult present(WalletClaim claim, String origin, Wallet wallet) throws CountersignException {
        Json begun = client.perform(HttpCall.json("POST", PRESENTATIONS, HttpCall.members(
            "channel", "dc_api", "want", claim.value(), "origin", origin)));
        String requests = JsonText.of(Collections.singletonMap("requests", begun.value("requests")));
        return result(claim, begun, () -> credential(wallet.present(requests).get()));
    }

    public CompletableFuture<WalletResult> presentAsync(WalletClaim claim, String origin, Wallet wallet) {
        return client.async(() -> present(claim, origin, wallet));
    }

    /**
     * Asks a wallet on this device for a credential, by a link.
     *
     * @param returningTo the link by which the wallet returns to this app. It is registered with the service, and the
     *     platform opens it in this app.
     * @throws CountersignException as {@link #present(WalletClaim, String, Wallet)}, and {@code not_found} if the
     *     wallet returned with the code of another request
     */
    public WalletResult present(WalletClaim claim, URI returningTo, WalletLink wallet) throws CountersignException {
        Json begun = client.perform(HttpCall.json("POST", PRESENTATIONS, HttpCall.members(
            "channel", "same_device", "want", claim.value(), "return_to", returningTo.toString())));
        String link = begun.text("url");
        return result(claim, begun, () -> responseCode(wallet.open(URI.create(link)).get()));
    }

    public CompletableFuture<WalletResult> presentAsync(WalletClaim claim, URI returningTo, WalletLink wallet) {
        return client.async(() -> present(claim, returningTo, wallet));
    }

    private static Map<String, Object> credential(String json) throws CountersignException {
        Json credential = Json.parse(Text.utf8(json));
        String response = credential.object("data").text("response");
        return HttpCall.members(
            "protocol", credential.text("protocol"), "data", Collections.singletonMap("response", response));
    }

    /** A link without a code is of no request: the service says so. */
    private static Map<String, Object> responseCode(URI returned) {
        String fragment = returned.getRawFragment();
        boolean hasCode = fragment != null && fragment.startsWith(RESPONSE_CODE);
        return HttpCall.members("response_code", hasCode ? fragment.substring(RESPONSE_CODE.length()) : "");
    }

    /** Sends what the user's wallet answered. If the user does nothing there, the request is deleted. */
    private WalletResult result(WalletClaim claim, Json begun, Callable<Map<String, Object>> wallet)
            throws CountersignException {
        String path = PRESENTATIONS + "/" + begun.id("id");
        Map<String, Object> answer;
        try {
            answer = answer(wallet);
        } catch (CountersignException failure) {
            delete(path, failure);
            throw failure;
        }
        // A second answer would be refused, so it is not repeated if the response is lost.
        return new WalletResult(claim, client.perform(HttpCall.json("POST", path, answer)));
    }

    private static Map<String, Object> answer(Callable<Map<String, Object>> wallet) throws CountersignException {
        try {
            return wallet.call();
        } catch (InterruptedException interrupt) {
            throw CountersignException.interrupted(interrupt);
        } catch (ExecutionException failure) {
            throw unavailable(failure.getCause());
        } catch (Exception failure) {
            throw unavailable(failure);
        }
    }

    private static CountersignException unavailable(Throwable cause) {
        return new CountersignException(Kind.WALLET, "The wallet presented nothing: " + cause, cause);
    }

    /** The user may begin only a few at the same time. If this fails, the request expires by itself. */
    private void delete(String path, CountersignException before) {
        try {
            client.answer(HttpCall.of("DELETE", path));
        } catch (CountersignException failure) {
            before.addSuppressed(failure);
        }
    }
}
