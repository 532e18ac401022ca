package switchcost.kit;

import java.util.List;

/** A parameter of a mechanism: one of some words, or an integer when there are no words. */
public record Parameter(String name, List<String> words) {
    public static Parameter words(String name, String... words) {
        return new Parameter(name, List.of(words));
    }

    public static Parameter integer(String name) {
        return new Parameter(name, List.of());
    }
}
