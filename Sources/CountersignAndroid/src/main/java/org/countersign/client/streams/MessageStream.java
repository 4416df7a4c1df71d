package org.countersign.client.streams;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.user.Assurance;
import org.countersign.client.user.PublicProfile;

/** A stream of messages, as the user sees it. A later version of the service may have other kinds and states. */
public final class MessageStream {
    /** Between two users with a permission. */
    public static final String DIRECT = "direct";
    /** Between up to 25 users. */
    public static final String CONVERSATION = "conversation";
    /** Open to all users of the provider. */
    public static final String FORUM = "forum";
    public static final String OPEN = "open";
    /** The permission between the two users has ended. */
    public static final String CLOSED = "closed";
    /** The user was removed, and sees no later messages. */
    public static final String LEFT = "left";

    private final UUID id;
    private final String kind;
    private final String state;
    private final @Nullable UUID createdBy;
    private final Instant createdAt;
    private final @Nullable String title;
    private final @Nullable String about;
    private final @Nullable String imageUrl;
    private final long lastSequence;
    private final @Nullable Long unread;
    private final @Nullable Message lastMessage;
    private final List<Member> members;
    private final List<PublicProfile> profiles;
    private final @Nullable String messageStorage;
    private final @Nullable Object metadata;
    private final @Nullable Object privateMetadata;

    MessageStream(Json json) throws CountersignException {
        id = json.id("id");
        kind = json.text("kind");
        state = json.text("state");
        createdBy = json.optionalId("created_by");
        createdAt = json.date("created_at");
        title = json.optionalText("title");
        about = json.optionalText("description");
        imageUrl = json.optionalText("image_url");
        lastSequence = json.number("last_sequence");
        unread = json.optionalNumber("unread");
        Json last = json.optionalObject("last_event");
        lastMessage = last == null ? null : new Message(last);
        members = json.list("members", Member::new);
        profiles = json.list("profiles", PublicProfile::new);
        messageStorage = json.optionalText("message_storage");
        metadata = json.value("metadata");
        privateMetadata = json.value("private_metadata");
    }

    public UUID id() {
        return id;
    }

    /** Such as {@link #DIRECT}. */
    public String kind() {
        return kind;
    }

    /** Such as {@link #CLOSED}. */
    public String state() {
        return state;
    }

    /** The user who opened it; null after that user's erasure. */
    public @Nullable UUID createdBy() {
        return createdBy;
    }

    public Instant createdAt() {
        return createdAt;
    }

    public @Nullable String title() {
        return title;
    }

    public @Nullable String about() {
        return about;
    }

    public @Nullable String imageUrl() {
        return imageUrl;
    }

    /** The number of the last message that the user may see. */
    public long lastSequence() {
        return lastSequence;
    }

    /** The number of messages after the user's last read one; null in a forum. */
    public @Nullable Long unread() {
        return unread;
    }

    public @Nullable Message lastMessage() {
        return lastMessage;
    }

    public List<Member> members() {
        return members;
    }

    /** The profiles of the creator and of the sender of the last message, as far as they are not members. */
    public List<PublicProfile> profiles() {
        return profiles;
    }

    /** How long the service stores later messages: {@code keep} or {@code until_delivered}. */
    public @Nullable String messageStorage() {
        return messageStorage;
    }

    /** Included if a single stream is requested, and if metadata has changed. */
    public @Nullable Object metadata() {
        return metadata;
    }

    /** Included if a single stream is requested, and if metadata has changed. */
    public @Nullable Object privateMetadata() {
        return privateMetadata;
    }

    /** A member as other members see it. */
    public static final class Member {
        private final UUID userId;
        private final @Nullable PublicProfile profile;
        private final Assurance assurance;
        private final long deliveredThrough;
        private final long readThrough;

        private Member(Json json) throws CountersignException {
            userId = json.id("user_id");
            profile = PublicProfile.in(json);
            assurance = Assurance.of(json.text("assurance"));
            deliveredThrough = json.number("delivered_through");
            readThrough = json.number("read_through");
        }

        public UUID userId() {
            return userId;
        }

        /** What the member shows; null in a closed stream. */
        public @Nullable PublicProfile profile() {
            return profile;
        }

        public Assurance assurance() {
            return assurance;
        }

        public long deliveredThrough() {
            return deliveredThrough;
        }

        /** The last message that the member has read, never beyond {@link #deliveredThrough}. */
        public long readThrough() {
            return readThrough;
        }
    }
}
