package org.countersign.client.proof;

/** What a user's wallet is asked for. */
public enum WalletClaim {
    /** The name, birthday and number of a document, which become a card. It needs a proven phone number. */
    IDENTITY("identity"),
    /** Whether the user is at least 18 years old. Only the answer is stored, if it is yes. */
    OVER_18("age_over_18"),
    OVER_21("age_over_21");

    private final String value;

    WalletClaim(String value) {
        this.value = value;
    }

    /** The word of the protocol. */
    public String value() {
        return value;
    }
}
