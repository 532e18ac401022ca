package switchcost.kit;

import java.util.List;

/** A parameter of a mechanism: one of some words, or an integer within bounds when there are no words. */
public record Parameter(String name, List<String> words, long min, long max, String fallback) {
    public static Parameter words(String name, String fallback, String... words) {
        return new Parameter(name, List.of(words), 0, 0, fallback);
    }

    public static Parameter integer(String name, long fallback, long min, long max) {
        return new Parameter(name, List.of(), min, max, Long.toString(fallback));
    }
}
