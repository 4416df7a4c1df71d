import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Names and times, the oldest first. */
final class Memory {
    private final Map<String, Double> moments = new LinkedHashMap<>();

    /** Seconds since 1970. */
    static double now() { return System.currentTimeMillis() / 1000.0; }

    /** When it was, or 0 if it is not known. */
    double get(String name) { return moments.getOrDefault(name, 0.0); }

    int size() { return moments.size(); }

    /** Remembers a name; of two times the later one. */
    void add(String name, double moment) { moments.merge(name, moment, Math::max); }

    /** Drops what is older than `life` seconds, and gives its names. */
    List<String> forget(double life) {
        var names = moments.entrySet().stream().takeWhile(entry -> entry.getValue() < now() - life)
            .map(Map.Entry::getKey).toList();
        names.forEach(moments::remove);
        return names;
    }
}
