package org.countersign.client.internal.wire;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;

/** An object of JSON that was read. A member of another type than expected is an error. */
public final class Json {
    private static final int DEEPEST = 64;
    private final Map<String, Object> members;

    private Json(Map<String, Object> members) {
        this.members = members;
    }

    /** Reads an object. */
    public static Json parse(byte[] bytes) throws CountersignException {
        // Gson reads strictly unless it is asked not to, and would pass over bytes that are not UTF-8.
        try (JsonReader reader = new JsonReader(new StringReader(
                StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString()))) {
            Object value = read(reader, 0);
            if (reader.peek() != JsonToken.END_DOCUMENT) throw unreadable("something follows the JSON");
            return object(value, "the body");
        } catch (CharacterCodingException notText) {
            throw unreadable("it is not UTF-8");
        } catch (IOException | IllegalStateException | NumberFormatException malformed) {
            if (malformed instanceof CountersignException) throw (CountersignException) malformed;
            throw unreadable("it is not JSON");
        }
    }

    private static @Nullable Object read(JsonReader reader, int depth) throws IOException {
        if (depth > DEEPEST) throw unreadable("it is nested too deeply");
        switch (reader.peek()) {
            case BEGIN_OBJECT:
                Map<String, Object> members = new LinkedHashMap<>();
                reader.beginObject();
                while (reader.hasNext()) members.put(reader.nextName(), read(reader, depth + 1));
                reader.endObject();
                return Collections.unmodifiableMap(members);
            case BEGIN_ARRAY:
                List<Object> list = new ArrayList<>();
                reader.beginArray();
                while (reader.hasNext()) list.add(read(reader, depth + 1));
                reader.endArray();
                return Collections.unmodifiableList(list);
            case STRING:
                return reader.nextString();
            case BOOLEAN:
                return reader.nextBoolean();
            case NULL:
                reader.nextNull();
                return null;
            default:
                return numeral(reader.nextString());
        }
    }

    private static Object numeral(String text) {
        try {
            return Long.valueOf(text);
        } catch (NumberFormatException notWhole) {
            return Double.valueOf(text);
        }
    }

    private static CountersignException unreadable(String why) {
        return new CountersignException(Kind.UNREADABLE, "The answer cannot be read: " + why + ".", null);
    }

    private static CountersignException wrong(String name) {
        return unreadable("its member " + name + " is missing, or of another type");
    }

    private static Json object(@Nullable Object value, String name) throws CountersignException {
        if (!(value instanceof Map)) throw wrong(name);
        Map<String, Object> found = new LinkedHashMap<>();
        ((Map<?, ?>) value).forEach((key, one) -> found.put((String) key, one));
        return new Json(found);
    }

    /** All members as Java's own values. */
    public Map<String, Object> members() {
        return Collections.unmodifiableMap(members);
    }

    /** A member as Java's own value: a map, list, text, number, boolean or null. */
    public @Nullable Object value(String name) {
        return members.get(name);
    }

    public boolean has(String name) {
        return members.get(name) != null;
    }

    private <T> @Nullable T optional(String name, Class<T> type) throws CountersignException {
        Object value = members.get(name);
        if (value != null && !type.isInstance(value)) throw wrong(name);
        return type.cast(value);
    }

    private static <T> T required(@Nullable T value, String name) throws CountersignException {
        if (value == null) throw wrong(name);
        return value;
    }

    public @Nullable String optionalText(String name) throws CountersignException {
        return optional(name, String.class);
    }

    public String text(String name) throws CountersignException {
        return required(optionalText(name), name);
    }

    public @Nullable Long optionalNumber(String name) throws CountersignException {
        return optional(name, Long.class);
    }

    public long number(String name) throws CountersignException {
        return required(optionalNumber(name), name);
    }

    public boolean flag(String name) throws CountersignException {
        return required(optional(name, Boolean.class), name);
    }

    public boolean flag(String name, boolean missing) throws CountersignException {
        Boolean found = optional(name, Boolean.class);
        return found == null ? missing : found;
    }

    public @Nullable UUID optionalId(String name) throws CountersignException {
        String text = optionalText(name);
        try {
            return text == null ? null : UUID.fromString(text);
        } catch (IllegalArgumentException notAnId) {
            throw wrong(name);
        }
    }

    public UUID id(String name) throws CountersignException {
        return required(optionalId(name), name);
    }

    public @Nullable Instant optionalDate(String name) throws CountersignException {
        String text = optionalText(name);
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeException notADate) {
            throw wrong(name);
        }
    }

    public Instant date(String name) throws CountersignException {
        return required(optionalDate(name), name);
    }

    public @Nullable Json optionalObject(String name) throws CountersignException {
        return members.get(name) == null ? null : object(members.get(name), name);
    }

    public Json object(String name) throws CountersignException {
        return required(optionalObject(name), name);
    }

    /** Makes a value of an object of JSON. */
    public interface Reader<T> {
        T read(Json json) throws CountersignException;
    }

    /** A list of objects; empty if it is missing. */
    public <T> List<T> list(String name, Reader<T> reader) throws CountersignException {
        List<?> values = optional(name, List.class);
        if (values == null) return Collections.emptyList();
        List<T> found = new ArrayList<>();
        for (Object one : values) found.add(reader.read(object(one, name)));
        return Collections.unmodifiableList(found);
    }

    /** A list of texts. */
    public List<String> textList(String name) throws CountersignException {
        List<String> found = new ArrayList<>();
        for (Object one : required(optional(name, List.class), name)) {
            if (!(one instanceof String)) throw wrong(name);
            found.add((String) one);
        }
        return Collections.unmodifiableList(found);
    }

    /** An object whose values are texts; empty if it is missing. */
    public Map<String, String> texts(String name) throws CountersignException {
        Json object = optionalObject(name);
        if (object == null) return Collections.emptyMap();
        Map<String, String> found = new LinkedHashMap<>();
        for (String key : object.members.keySet()) found.put(key, object.text(key));
        return Collections.unmodifiableMap(found);
    }
}
