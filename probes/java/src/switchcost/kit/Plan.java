package switchcost.kit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One `run`, as asked: parsed once, never changed. What calibration makes of it stands in the `plan` message. */
public record Plan(
    Mechanism mechanism,
    String experiment,
    long contexts,
    String timing,
    List<Integer> cpus,
    long batchUnits,
    long batchNs,
    int batches,
    int warmupBatches,
    int verifyUnits,
    long seed,
    Map<String, String> parameters
) {
    public static final int PROTOCOL = 1;

    // The limits of PROTOCOL.md, section 1.
    static final long MOST_UNITS = 1_000_000_000_000L;
    private static final long MOST_BATCHES = 1_000_000;
    private static final long MOST_CONTEXTS = 1 << 24;
    private static final int MOST_CPU = (1 << 20) - 1;
    private static final int MOST_DESCRIPTOR = 1 << 20;

    /** The same plan, small: see {@link Rehearsal}. */
    Plan forRehearsal(long mostContexts, Map<String, Long> mostOfParameters) {
        Map<String, String> small = new LinkedHashMap<>(parameters);
        mostOfParameters.forEach((name, most) ->
            small.computeIfPresent(name, (same, value) -> Long.toString(Math.min(Long.parseLong(value), most)))
        );
        return new Plan(
            mechanism,
            experiment,
            Math.min(contexts, mostContexts),
            timing,
            cpus,
            batchUnits,
            batchNs,
            batches,
            warmupBatches,
            verifyUnits,
            seed,
            small
        );
    }

    /** What the probe says that it will do, with the k that calibration gave. */
    Message message(long units) {
        return Message.of("plan")
            .put("mechanism", mechanism.id())
            .put("experiment", experiment)
            .put("contexts", contexts)
            .put("timing", timing)
            .put("cpus", cpus)
            .put("batch_units", units)
            .put("batches", batches)
            .put("warmup_batches", warmupBatches)
            .put("parameters", parameters);
    }

    public boolean each() {
        return timing.equals("each");
    }

    /**
     * Reads the words after `run`. The mechanism must be known before its parameters can be told from typing errors, so
     * it is looked for first; the order of the words does not matter.
     */
    public static Plan parse(List<String> words, List<Mechanism> list) {
        Taker take = new Taker(split(words));
        Mechanism mechanism = find(take, list);
        take.integer("report_fd", 1, 0, MOST_DESCRIPTOR);
        take.integer("protocol", PROTOCOL, PROTOCOL, PROTOCOL);
        long seed = take.integer("seed", 0, 0, Long.MAX_VALUE);
        String experiment = take.word("experiment", "switch", mechanism.experiments());
        long contexts = take.integer("contexts", 2, 1, MOST_CONTEXTS);
        String timing = take.word("timing", "batch", Measurement.TIMINGS);
        List<Integer> cpus = take.cpus("cpus");
        long batchUnits = take.integer("batch_units", 0, 0, MOST_UNITS);
        long batchNs = take.integer("batch_ns", 1_000_000, 1, MOST_UNITS);
        int batches = (int) take.integer("batches", 30, 1, MOST_BATCHES);
        int warmupBatches = (int) take.integer("warmup_batches", 5, 0, MOST_BATCHES);
        int verifyUnits = (int) take.integer("verify_units", 1000, 0, MOST_CONTEXTS);
        Map<String, String> parameters = new LinkedHashMap<>();
        for (Parameter p : mechanism.parameters()) {
            parameters.put(
                p.name(),
                p.words().isEmpty()
                    ? Long.toString(take.integer(p.name(), Long.parseLong(p.fallback()), p.min(), p.max()))
                    : take.word(p.name(), p.fallback(), p.words())
            );
        }
        take.nothingLeft("is neither a key of `run` nor a parameter of " + mechanism.id());
        return new Plan(
            mechanism,
            experiment,
            contexts,
            timing,
            cpus,
            batchUnits,
            batchNs,
            batches,
            warmupBatches,
            verifyUnits,
            seed,
            parameters
        );
    }

    /** Looked for before anything else is judged, so that even a refusal reaches the host. */
    public static int reportFd(String[] words) {
        for (String word : words) {
            if (word.matches("report_fd=\\d{1,7}")) {
                int fd = Integer.parseInt(word.substring("report_fd=".length()));
                if (fd <= MOST_DESCRIPTOR) {
                    return fd;
                }
            }
        }
        return 1;
    }

    /** `describe` knows no key but report_fd. */
    public static void checkDescribe(List<String> words) {
        Taker take = new Taker(split(words));
        take.integer("report_fd", 1, 0, MOST_DESCRIPTOR);
        take.nothingLeft("is not a key of `describe`; only report_fd is");
    }

    private static Mechanism find(Taker take, List<Mechanism> list) {
        String id = take.values.remove("mechanism");
        if (id == null) {
            throw Refusal.refuse("bad_value", "`mechanism` is missing; `describe` lists the mechanisms");
        }
        return list
            .stream()
            .filter(mechanism -> mechanism.id().equals(id))
            .findFirst()
            .orElseThrow(() ->
                Refusal.refuse(
                    "unknown_mechanism",
                    "this probe has no mechanism `%s`; `describe` lists those it has",
                    id
                )
            );
    }

    private static Map<String, String> split(List<String> words) {
        Map<String, String> values = new HashMap<>();
        for (String word : words) {
            int equals = word.indexOf('=');
            if (equals <= 0) {
                throw Refusal.refuse("unknown_key", "`%s` is not of the form key=value", word);
            }
            String key = word.substring(0, equals);
            String value = word.substring(equals + 1);
            if (!value.matches("[A-Za-z0-9._,/+-]*")) {
                throw Refusal.refuse(
                    "bad_value",
                    "the value of `%s` may hold only letters, digits and . _ , / + -",
                    key
                );
            }
            if (values.put(key, value) != null) {
                throw Refusal.refuse("bad_value", "`%s` is given twice; give it once", key);
            }
        }
        return values;
    }

    /** Removes values one by one and remembers the first that is wrong; whatever is left at the end is unknown, which weighs more. */
    private static final class Taker {

        final Map<String, String> values;
        private Refusal first;

        Taker(Map<String, String> values) {
            this.values = values;
        }

        private void wrong(String format, Object... arguments) {
            first = first == null ? Refusal.refuse("bad_value", format, arguments) : first;
        }

        long integer(String key, long fallback, long min, long max) {
            String text = values.remove(key);
            if (text == null) {
                return fallback;
            }
            try {
                long value = Long.parseLong(text);
                if (!text.startsWith("+") && !text.startsWith("-") && value >= min && value <= max) {
                    return value;
                }
            } catch (NumberFormatException error) {
                // Said below.
            }
            wrong("`%s=%s` must be an integer from %d to %d", key, text, min, max);
            return fallback;
        }

        String word(String key, String fallback, List<String> words) {
            String text = values.remove(key);
            if (text != null && !words.contains(text)) {
                wrong("`%s=%s` must be one of: %s", key, text, String.join(", ", words));
            }
            return text == null ? fallback : text;
        }

        List<Integer> cpus(String key) {
            String text = values.remove(key);
            List<Integer> cpus = new ArrayList<>();
            if (text == null || text.isEmpty()) {
                return cpus;
            }
            for (String part : text.split(",", -1)) {
                if (!part.matches("\\d{1,9}") || Integer.parseInt(part) > MOST_CPU) {
                    wrong("`%s=%s` must be a list of CPU numbers from 0 to %d such as 0,1", key, text, MOST_CPU);
                    return cpus;
                }
                cpus.add(Integer.parseInt(part));
            }
            return cpus;
        }

        void nothingLeft(String complaint) {
            if (!values.isEmpty()) {
                throw Refusal.refuse("unknown_key", "`%s` %s", values.keySet().iterator().next(), complaint);
            }
            if (first != null) {
                throw first;
            }
        }
    }
}
