package org.countersign.client.user;

import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.Json;

/** What a user shows to other users of the provider. */
public final class PublicProfile {
    private final UUID userId;
    private final String address;
    private final @Nullable String displayName;
    private final @Nullable String initials;
    private final @Nullable String pictureUrl;

    /** Reads a response. */
    public PublicProfile(Json json) throws CountersignException {
        userId = json.id("user_id");
        address = json.text("address");
        displayName = json.optionalText("display_name");
        initials = json.optionalText("initials");
        pictureUrl = json.optionalText("picture_url");
    }

    /** The profile in a response; null if it does not name the user. */
    public static @Nullable PublicProfile in(Json json) throws CountersignException {
        return json.has("user_id") && json.has("address") ? new PublicProfile(json) : null;
    }

    public UUID userId() {
        return userId;
    }

    /** The provider's short name and its own id of the user, {@code <provider slug>/<external id>}. */
    public String address() {
        return address;
    }

    /** The name from the provider; null if there is none, and if the service does not show names. */
    public @Nullable String displayName() {
        return displayName;
    }

    /** The first letters of the name on the user's card. */
    public @Nullable String initials() {
        return initials;
    }

    /** The picture from the provider. */
    public @Nullable String pictureUrl() {
        return pictureUrl;
    }

    /** The best name to show: the display name, the initials, or the address. */
    public String shownName() {
        if (displayName != null) return displayName;
        return initials == null ? address : initials;
    }
}
