package org.countersign.client.streams;

import java.util.Map;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.wire.Text;

/** One part of a message: a text or bytes. */
public final class MessagePart {
    private final String type;
    private final @Nullable String text;
    private final @Nullable byte[] bytes;

    private MessagePart(String type, @Nullable String text, @Nullable byte[] bytes) {
        this.type = type;
        this.text = text;
        this.bytes = bytes;
    }

    /** Plain text. */
    public static MessagePart text(String text) {
        return text(text, "text/plain");
    }

    /**
     * Text of a media type.
     *
     * @param type without parameters (RFC 6838 §4.2)
     */
    public static MessagePart text(String text, String type) {
        return new MessagePart(type, text, null);
    }

    /** Bytes of a media type. */
    public static MessagePart bytes(byte[] bytes, String type) {
        return new MessagePart(type, null, bytes.clone());
    }

    static MessagePart read(Json json) throws CountersignException {
        String text = json.optionalText("body");
        if (text != null) return text(text, json.text("type"));
        byte[] bytes = Text.fromBase64(json.text("body_base64"));
        return new MessagePart(json.text("type"), null, bytes == null ? new byte[0] : bytes);
    }

    Map<String, Object> members() {
        return HttpCall.members(
            "type", type, "body", text, "body_base64", bytes == null ? null : Text.base64Url(bytes));
    }

    /** The media type. */
    public String type() {
        return type;
    }

    /** The text; null for a part of bytes. */
    public @Nullable String text() {
        return text;
    }

    /** The bytes; null for a part of text. */
    public @Nullable byte[] bytes() {
        return bytes == null ? null : bytes.clone();
    }
}
