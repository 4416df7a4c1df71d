package org.countersign.client.internal.wire;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import javax.annotation.Nullable;

/** Writes maps, collections, texts, numbers, booleans and null as JSON (RFC 8259). Equal values have equal bytes. */
public final class JsonText {
    private static final int DEEPEST = 64;

    private JsonText() {}

    /**
     * The text of a value.
     *
     * @throws IllegalArgumentException for anything that is not JSON, such as a date or not-a-number
     */
    public static String of(@Nullable Object value) {
        StringBuilder text = new StringBuilder();
        write(text, value, 0);
        return text.toString();
    }

    public static byte[] bytes(@Nullable Object value) {
        return Text.utf8(of(value));
    }

    private static void write(StringBuilder text, @Nullable Object value, int depth) {
        if (depth > DEEPEST) {
            throw new IllegalArgumentException("The JSON is nested too deeply: use at most 64 levels.");
        }
        if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long) {
            text.append(value);
        } else if (value instanceof Double && !((Double) value).isNaN() && !((Double) value).isInfinite()) {
            text.append(value);
        } else if (value instanceof CharSequence) {
            quote(text, value.toString());
        } else if (value instanceof Map) {
            writeObject(text, (Map<?, ?>) value, depth);
        } else if (value instanceof Collection) {
            char mark = '[';
            for (Object one : (Collection<?>) value) {
                text.append(mark);
                write(text, one, depth + 1);
                mark = ',';
            }
            text.append(mark == '[' ? "[]" : "]");
        } else {
            throw new IllegalArgumentException(value + " is not JSON: use a map, list, text, number, boolean or null.");
        }
    }

    private static void writeObject(StringBuilder text, Map<?, ?> members, int depth) {
        TreeMap<String, Object> sorted = new TreeMap<>();
        members.forEach((name, one) -> sorted.put(String.valueOf(name), one));
        char mark = '{';
        for (Map.Entry<String, Object> member : sorted.entrySet()) {
            text.append(mark);
            quote(text, member.getKey());
            text.append(':');
            write(text, member.getValue(), depth + 1);
            mark = ',';
        }
        text.append(mark == '{' ? "{}" : "}");
    }

    private static void quote(StringBuilder text, String value) {
        text.append('"');
        for (int index = 0; index < value.length(); index++) {
            char one = value.charAt(index);
            if (one == '"' || one == '\\') {
                text.append('\\').append(one);
            } else if (one < 0x20 || Character.isSurrogate(one)) {
                text.append(String.format("\\u%04x", (int) one));
            } else {
                text.append(one);
            }
        }
        text.append('"');
    }
}
