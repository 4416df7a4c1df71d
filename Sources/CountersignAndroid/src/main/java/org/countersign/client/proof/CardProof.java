package org.countersign.client.proof;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.Client;
import org.countersign.client.internal.wire.HttpCall;

/** The proof of an identity by a card. */
public final class CardProof {
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
}
