package switchcost.kit;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import switchcost.mechanisms.Mechanisms;

/** The few words that the tests need; a failed check ends the run with status 1. */
public final class Check {

    public static int done;

    private Check() {}

    public static void that(boolean condition, String format, Object... arguments) {
        done++;
        if (!condition) {
            throw new AssertionError(String.format(format, arguments));
        }
    }

    public static void same(Object expected, Object actual, String what) {
        that(Objects.equals(expected, actual), "%s: expected %s, got %s", what, expected, actual);
    }

    /** A plan of which some words are given. */
    public static Plan plan(String mechanism, String... given) {
        String usual =
            "protocol=1 experiment=switch contexts=2 timing=batch cpus= batch_units=0 batch_ns=1000000 batches=30 " +
            "warmup_batches=5 verify_units=1000 seed=0 heap_offset=drawn by=park working_set=0 workers=1 depth=0 frames=held" +
            (mechanism.equals("fiber/java-virtual") ? " carriers=one payload=8" : "");
        Map<String, String> words = new TreeMap<>(Map.of("mechanism", "mechanism=" + mechanism));
        Stream.concat(Stream.of(usual.split(" ")), Stream.of(given)).forEach(word ->
            words.put(word.split("=")[0], word)
        );
        List<String> known = Mechanisms.LIST.stream()
            .filter(one -> one.id().equals(mechanism))
            .flatMap(one -> one.parameters().stream().map(Parameter::name))
            .toList();
        for (String parameter : List.of("by", "working_set", "heap_offset", "workers", "depth", "frames")) {
            if (!known.contains(parameter)) {
                words.remove(parameter);
            }
        }
        return Plan.parse(List.copyOf(words.values()), Mechanisms.LIST);
    }
}
