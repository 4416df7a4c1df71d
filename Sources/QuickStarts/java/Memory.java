import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Names and times, the oldest first. */
final class Memory {
    private final Map<String, Double> moments = new LinkedHashMap<>();

    /** Seconds since 1970. */
    static double now() { return System.currentTimeMillis() / 1000.0; }

    /** Its time, or 0 if it is unknown. */
    double get(String name) { return moments.getOrDefault(name, 0.0); }

    int size() { return moments.size(); }

    /** Stores a name with a time, or with the later of two times. */
    void add(String name, double moment) { moments.merge(name, moment, Math::max); }

    /** Deletes entries older than `life` seconds, and returns their names. */
    List<String> forget(double life) {
        var names = moments.entrySet().stream().takeWhile(entry -> entry.getValue() < now() - life)
            .map(Map.Entry::getKey).toList();
        names.forEach(moments::remove);
        return names;
    }
}
