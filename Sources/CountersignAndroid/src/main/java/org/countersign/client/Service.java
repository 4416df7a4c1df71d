package org.countersign.client;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.UUID;
import javax.annotation.Nullable;
import okhttp3.HttpUrl;
import org.countersign.client.internal.wire.Text;

/** The addresses of a Countersign service, and the keys that identify it. */
public final class Service {
    private final String publicUrl;
    private final String clientUrl;
    private final Set<String> pins;
    private final @Nullable String authority;
    private final @Nullable UUID appId;

    private Service(Builder builder) {
        publicUrl = builder.publicUrl;
        clientUrl = builder.clientUrl;
        pins = Collections.unmodifiableSet(new LinkedHashSet<>(builder.pins));
        authority = builder.authority;
        appId = builder.appId;
    }

    /**
     * Describes a service.
     *
     * @param publicUrl the external URL of the public listener, such as {@code https://auth.example.com}
     * @param clientUrl the external URL of the client listener, such as {@code https://device.auth.example.com}
     * @throws IllegalArgumentException for anything but URLs of https
     */
    public static Builder builder(String publicUrl, String clientUrl) {
        return new Builder(publicUrl, clientUrl);
    }

    /** The URL of the public listener, without a slash at its end. */
    public String publicUrl() {
        return publicUrl;
    }

    /** The URL of the client listener, without a slash at its end. */
    public String clientUrl() {
        return clientUrl;
    }

    /** The accepted keys in base64url. If empty, only the authority is checked. */
    public Set<String> pins() {
        return pins;
    }

    /** The authorities that may certify the server, PEM; null for those of the operating system. */
    public @Nullable String authority() {
        return authority;
    }

    /** The id of the app at its provider; null if the provider has one app. */
    public @Nullable UUID appId() {
        return appId;
    }

    /** Builds a {@link Service}. */
    public static final class Builder {
        private final String publicUrl;
        private final String clientUrl;
        private final Set<String> pins = new LinkedHashSet<>();
        private @Nullable String authority;
        private @Nullable UUID appId;

        private Builder(String publicUrl, String clientUrl) {
            this.publicUrl = origin(publicUrl);
            this.clientUrl = origin(clientUrl);
        }

        private static String origin(String url) {
            HttpUrl parsed = HttpUrl.parse(url);
            if (parsed == null || !parsed.isHttps()) {
                throw new IllegalArgumentException(
                    url + " is not a URL of https: write it like https://auth.example.com.");
            }
            return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
        }

        /**
         * Accepts a key of the server. Pin the present key and the next one, as discovery lists them in
         * {@code server_key_pins_sha256}.
         *
         * @param pin the SHA-256 of the SubjectPublicKeyInfo (RFC 7469 §2.4) in base64 or base64url
         * @throws IllegalArgumentException if it is not 32 bytes
         */
        public Builder pin(String pin) {
            byte[] digest = Text.fromBase64(pin);
            if (digest == null || digest.length != 32) {
                throw new IllegalArgumentException(pin + " is not the SHA-256 of a key: copy it from discovery.");
            }
            pins.add(Text.base64Url(digest));
            return this;
        }

        /** Trusts the authorities in this PEM text, such as the response of {@code GET /certificates/authority}. */
        public Builder authority(String pem) {
            authority = pem;
            return this;
        }

        /** Names the app, if the provider has several. */
        public Builder appId(UUID id) {
            appId = id;
            return this;
        }

        public Service build() {
            return new Service(this);
        }
    }
}
