package org.countersign.client.streams;

import java.util.List;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;

/** The changes in the user's streams since an anchor. */
public final class SyncPage {
    private final String anchor;
    private final boolean hasMore;
    private final List<Operation> operations;
    private final List<Typing> typing;
    private final List<UserPresence> presence;

    SyncPage(Json json) throws CountersignException {
        anchor = json.text("anchor");
        hasMore = json.flag("more");
        operations = json.list("operations", Operation::new);
        typing = json.list("typing", Typing::new);
        presence = json.list("presence", UserPresence::new);
    }

    /** The anchor for the next call. */
    public String anchor() {
        return anchor;
    }

    /** Whether the next call returns at once. */
    public boolean hasMore() {
        return hasMore;
    }

    public List<Operation> operations() {
        return operations;
    }

    /** Members who are writing now. This is not stored, so no anchor returns to it. */
    public List<Typing> typing() {
        return typing;
    }

    /** The users that the call watches, as they are now. */
    public List<UserPresence> presence() {
        return presence;
    }

    /** A change. It supersedes an earlier one of the same kind, for the same stream or message. */
    public static final class Operation {
        /** The stream is new to the user, or has new messages. */
        public static final String NEW_MESSAGE = "NEW_MESSAGE";
        /** A member's receipts have risen. */
        public static final String UPDATE_STATUS = "UPDATE_STATUS";
        /** Metadata of the stream or of a message changed. */
        public static final String UPDATE_TAGS = "UPDATE_TAGS";
        public static final String MEMBERS = "MEMBERS";
        /** A message was deleted, for all members or for the user only, or a whole stream. */
        public static final String DELETED = "DELETED";
        /** A member's account was erased, with the bodies of that member's messages. */
        public static final String ERASED = "ERASED";
        /** A notification of the user's provider: see {@link #notification}. */
        public static final String NOTIFICATION = "NOTIFICATION";

        private final String kind;
        private final @Nullable UUID streamId;
        private final @Nullable UUID messageId;
        private final @Nullable MessageStream stream;
        private final @Nullable Object messageMetadata;
        private final @Nullable ProviderNotification notification;

        private Operation(Json json) throws CountersignException {
            Json notified = json.optionalObject("notification");
            notification = notified == null ? null : new ProviderNotification(notified);
            kind = notification == null ? json.text("operation") : NOTIFICATION;
            streamId = notification == null ? json.id("stream_id") : null;
            messageId = json.optionalId("event_id");
            Json changed = json.optionalObject("stream");
            stream = changed == null ? null : new MessageStream(changed);
            messageMetadata = json.value("event");
        }

        /** Such as {@link #NEW_MESSAGE}. A later version of the service may have others: treat them like members. */
        public String kind() {
            return kind;
        }

        /** The stream that changed; null for a notification. */
        public @Nullable UUID streamId() {
            return streamId;
        }

        /** The message that was deleted, or whose metadata changed; null for a change of the stream. */
        public @Nullable UUID messageId() {
            return messageId;
        }

        /** The stream's current state; null if it was deleted, and for a change of a message. */
        public @Nullable MessageStream stream() {
            return stream;
        }

        /** The message's number and metadata as JSON; null unless they changed. */
        public @Nullable Object messageMetadata() {
            return messageMetadata;
        }

        /** The provider's notification; null for a change. */
        public @Nullable ProviderNotification notification() {
            return notification;
        }
    }

    /** A member who is writing. */
    public static final class Typing {
        private final UUID stream;
        private final UUID user;

        private Typing(Json json) throws CountersignException {
            stream = json.id("stream_id");
            user = json.id("user_id");
        }

        public UUID stream() {
            return stream;
        }

        public UUID user() {
            return user;
        }
    }
}
