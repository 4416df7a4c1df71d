package org.countersign.client.proof;

import java.util.List;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.user.Assurance;

/** The result for a card. */
public final class CardResult {
    private final UUID id;
    private final String status;
    private final Assurance assurance;
    private final List<Check> checks;
    private final @Nullable String issuerSignature;

    CardResult(Json json) throws CountersignException {
        id = json.id("id");
        status = json.text("status");
        assurance = Assurance.of(json.text("assurance"));
        checks = json.list("checks", Check::new);
        issuerSignature = json.optionalText("issuer_signature");
    }

    public UUID id() {
        return id;
    }

    /** The card's status: {@code verified}, {@code in_review} or {@code rejected}. */
    public String status() {
        return status;
    }

    public Assurance assurance() {
        return assurance;
    }

    public List<Check> checks() {
        return checks;
    }

    /**
     * The signature that some issuers write into a barcode: {@code none}, {@code present} (not verified), {@code
     * unreadable}, {@code verified} or {@code invalid}. Null from a service that does not report it.
     */
    public @Nullable String issuerSignature() {
        return issuerSignature;
    }

    /** One check of a card. */
    public static final class Check {
        private final String name;
        private final String result;
        private final String detail;

        /** Reads a response. */
        public Check(Json json) throws CountersignException {
            name = json.text("name");
            result = json.text("result");
            detail = json.text("detail");
        }

        public String name() {
            return name;
        }

        /** The check's result: {@code passed}, {@code failed} or {@code not_applicable}. */
        public String result() {
            return result;
        }

        public String detail() {
            return detail;
        }

        @Override
        public String toString() {
            return name + " " + result + ": " + detail;
        }
    }
}
