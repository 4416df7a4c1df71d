package org.countersign.client.user;

/** The level of a user's proven identity. A later version of the service may have others. */
public final class Assurance {
    public static final Assurance NONE = new Assurance("none");
    public static final Assurance PHONE = new Assurance("phone");
    /** The barcode of a card, without confirmation by its issuer. */
    public static final Assurance BARCODE = new Assurance("barcode");
    /** A card whose barcode its issuer signed. */
    public static final Assurance ISSUER_SIGNED = new Assurance("issuer_signed");
    /** A card that its issuer confirmed. */
    public static final Assurance ISSUER_CHECKED = new Assurance("issuer_checked");
    /** A credential in a wallet: its issuer signed it, and the user's device proved that it holds it. */
    public static final Assurance CREDENTIAL = new Assurance("credential");

    private final String value;

    private Assurance(String value) {
        this.value = value;
    }

    /** The level of a word of the protocol. */
    public static Assurance of(String value) {
        return new Assurance(value);
    }

    /** The word of the protocol. */
    public String value() {
        return value;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Assurance && ((Assurance) other).value.equals(value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public String toString() {
        return value;
    }
}
