package org.countersign.client.proof;

import java.util.Collections;
import java.util.Map;
import java.util.UUID;
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
        String path = PRESENTATIONS + "/" + begun.id("id");
        Map<String, Object> answer;
        try {
            answer = answer(wallet, JsonText.of(Collections.singletonMap("requests", begun.value("requests"))));
        } catch (CountersignException failure) {
            delete(path, failure);
            throw failure;
        }
        // A second answer would be refused, so it is not repeated if the response is lost.
        return new WalletResult(claim, client.perform(HttpCall.json("POST", path, answer)));
    }

    public CompletableFuture<WalletResult> presentAsync(WalletClaim claim, String origin, Wallet wallet) {
        return client.async(() -> present(claim, origin, wallet));
    }

    private static Map<String, Object> answer(Wallet wallet, String requests) throws CountersignException {
        try {
            Json credential = Json.parse(Text.utf8(wallet.present(requests).get()));
            String response = credential.object("data").text("response");
            return HttpCall.members(
                "protocol", credential.text("protocol"), "data", Collections.singletonMap("response", response));
        } catch (InterruptedException interrupt) {
            throw CountersignException.interrupted(interrupt);
        } catch (CountersignException unreadable) {
            throw unavailable(unreadable);
        } catch (ExecutionException failure) {
            throw unavailable(failure.getCause());
        } catch (RuntimeException failure) {
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
