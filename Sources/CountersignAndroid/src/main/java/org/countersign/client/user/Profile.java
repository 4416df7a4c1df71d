package org.countersign.client.user;

import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;

/** The user's proven data: {@code GET /me}. */
public final class Profile {
    private final UUID userId;
    private final String address;
    private final Assurance assurance;
    private final @Nullable String phoneNumber;
    private final @Nullable String fullName;
    private final @Nullable String postalAddress;
    private final @Nullable Long age;
    private final @Nullable String documentNumber;
    private final @Nullable String jurisdiction;
    private final @Nullable String suspended;
    private final @Nullable String messageStorage;
    private final boolean isPresenceVisible;

    Profile(Json json) throws CountersignException {
        userId = json.id("user_id");
        address = json.text("address");
        assurance = Assurance.of(json.text("assurance"));
        phoneNumber = json.optionalText("phone_number");
        fullName = json.optionalText("full_name");
        postalAddress = json.optionalText("postal_address");
        age = json.optionalNumber("age");
        documentNumber = json.optionalText("document_number");
        jurisdiction = json.optionalText("jurisdiction");
        suspended = json.optionalText("suspended");
        messageStorage = json.optionalText("message_storage");
        isPresenceVisible = json.text("presence").equals("visible");
    }

    public UUID userId() {
        return userId;
    }

    public String address() {
        return address;
    }

    public Assurance assurance() {
        return assurance;
    }

    /** The phone number in E.164 form. */
    public @Nullable String phoneNumber() {
        return phoneNumber;
    }

    public @Nullable String fullName() {
        return fullName;
    }

    public @Nullable String postalAddress() {
        return postalAddress;
    }

    public @Nullable Integer age() {
        return age == null ? null : age.intValue();
    }

    /** The last four characters of the document's number. */
    public @Nullable String documentNumber() {
        return documentNumber;
    }

    /** The state or country that issued the document. */
    public @Nullable String jurisdiction() {
        return jurisdiction;
    }

    /** The reason for the suspension of the level, such as {@code phone_reassigned}. */
    public @Nullable String suspended() {
        return suspended;
    }

    /** How long the service stores messages that the user writes or gets: {@code keep} or {@code until_delivered}. */
    public @Nullable String messageStorage() {
        return messageStorage;
    }

    /** Whether other users see when the user is online. */
    public boolean isPresenceVisible() {
        return isPresenceVisible;
    }
}
