package org.countersign.client.permissions;

import java.time.Instant;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.user.Assurance;
import org.countersign.client.user.PublicProfile;

/** A request of one user to message another, and its state. A later version of the service may have other states. */
public final class Permission {
    /** The direction of a request. */
    public enum Box { IN, OUT }

    /** The other user has not answered yet. */
    public static final String REQUESTED = "REQUEST";
    /** Both users may message each other. */
    public static final String APPROVED = "APPROVAL";
    public static final String REJECTED = "REJECTED";
    public static final String CANCELLED = "CANCELLED";
    /** Nobody answered in time. */
    public static final String EXPIRED = "EXPIRED";
    /** A ban of one of the users ended it. */
    public static final String BANNED = "BANNED";

    private final UUID id;
    private final Box box;
    private final String state;
    private final Instant createdAt;
    private final @Nullable String grant;
    private final @Nullable Partner partner;

    Permission(Json json) throws CountersignException {
        id = json.id("id");
        box = json.text("box").equals("in") ? Box.IN : Box.OUT;
        state = json.text("state");
        createdAt = json.date("created_at");
        grant = json.optionalText("grant");
        Json other = json.optionalObject("partner");
        partner = other == null ? null : new Partner(other);
    }

    public UUID id() {
        return id;
    }

    public Box box() {
        return box;
    }

    /** One of the constants of this class, such as {@link #APPROVED}, or a later one. */
    public String state() {
        return state;
    }

    public Instant createdAt() {
        return createdAt;
    }

    /**
     * While it is approved and both users are verified: {@code <requester> -> <recipient>}. It permits both
     * directions. Null otherwise.
     */
    public @Nullable String grant() {
        return grant;
    }

    /** The other user, as far as the state reveals it. */
    public @Nullable Partner partner() {
        return partner;
    }

    @Override
    public String toString() {
        return "permission " + id + " " + state;
    }

    /** The visible data of the other user. */
    public static final class Partner {
        private final @Nullable PublicProfile profile;
        private final @Nullable String initials;
        private final @Nullable Long age;
        private final Assurance assurance;
        private final @Nullable String pushEndpoint;

        private Partner(Json json) throws CountersignException {
            profile = PublicProfile.in(json);
            initials = json.optionalText("initials");
            age = json.optionalNumber("age");
            assurance = Assurance.of(json.text("assurance"));
            pushEndpoint = json.optionalText("push_endpoint");
        }

        /** The user's id, address and name; null before the approval. */
        public @Nullable PublicProfile profile() {
            return profile;
        }

        public @Nullable String initials() {
            return initials;
        }

        public @Nullable Integer age() {
            return age == null ? null : age.intValue();
        }

        public Assurance assurance() {
            return assurance;
        }

        /** The ARN of the other's endpoint for pushes. */
        public @Nullable String pushEndpoint() {
            return pushEndpoint;
        }
    }
}
