package org.countersign.client.proof;

import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;

/** What a presentation proved about the user. */
public final class WalletResult {
    private final @Nullable CardResult card;
    private final boolean isAgeReached;

    WalletResult(WalletClaim claim, Json json) throws CountersignException {
        boolean isCard = claim == WalletClaim.IDENTITY;
        card = isCard ? new CardResult(json) : null;
        isAgeReached = !isCard && json.flag(claim.value());
    }

    /** The card that an identity became; null for an age. */
    public @Nullable CardResult card() {
        return card;
    }

    /** Whether the user has reached the age; false for an identity. */
    public boolean isAgeReached() {
        return isAgeReached;
    }
}
