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
     * Reads the words after `run`, in any order. The mechanism must be known before its parameters can be told from typing
     * errors, so it is looked for first.
     */
    public static Plan parse(List<String> words, List<Mechanism> list) {
        Taker take = new Taker(split(words));
        Mechanism mechanism = find(take.text("mechanism"), list);
        take.reportFd();
        take.word("protocol", List.of(Integer.toString(PROTOCOL)));
        Map<String, String> parameters = new LinkedHashMap<>();
        for (Parameter p : mechanism.parameters()) {
            parameters.put(
                p.name(),
                p.words().isEmpty() ? Long.toString(take.integer(p.name())) : take.word(p.name(), p.words())
            );
        }
        Plan plan = new Plan(
            mechanism,
            take.word("experiment", mechanism.experiments()),
            take.integer("contexts"),
            take.word("timing", Measurement.TIMINGS),
            take.cpus("cpus"),
            take.integer("batch_units"),
            take.integer("batch_ns"),
            (int) take.integer("batches"),
            (int) take.integer("warmup_batches"),
            (int) take.integer("verify_units"),
            take.integer("seed"),
            parameters
        );
        take.nothingLeft("is neither a key of `run` nor a parameter of " + mechanism.id());
        return plan;
    }

    /** Looked for before anything else is judged, so that even a refusal reaches the host. */
    public static int reportFd(String[] words) {
        for (String word : words) {
            if (word.matches("report_fd=\\d{1,7}")) {
                return Integer.parseInt(word.substring("report_fd=".length()));
            }
        }
        return 1;
    }

    /** `describe` knows no key but report_fd. */
    public static void checkDescribe(List<String> words) {
        Taker take = new Taker(split(words));
        take.reportFd();
        take.nothingLeft("is not a key of `describe`; only report_fd is");
    }

    private static Mechanism find(String id, List<Mechanism> list) {
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

    /** Removes values one by one; whatever is left at the end is unknown. */
    private record Taker(Map<String, String> values) {
        String text(String key) {
            String text = values.remove(key);
            if (text == null) {
                throw Refusal.refuse(
                    "bad_value",
                    "`%s` is missing; a plan has every key, and every parameter that `describe` lists",
                    key
                );
            }
            return text;
        }

        /** The one key that has a default. */
        void reportFd() {
            if (values.containsKey("report_fd")) {
                integer("report_fd");
            }
        }

        long integer(String key) {
            String text = text(key);
            if (!text.matches("\\d{1,19}")) {
                throw Refusal.refuse("bad_value", "`%s=%s` must be an integer", key, text);
            }
            return Long.parseUnsignedLong(text);
        }

        String word(String key, List<String> words) {
            String text = text(key);
            if (!words.contains(text)) {
                throw Refusal.refuse("bad_value", "`%s=%s` must be one of: %s", key, text, String.join(", ", words));
            }
            return text;
        }

        List<Integer> cpus(String key) {
            String text = text(key);
            List<Integer> cpus = new ArrayList<>();
            for (String part : text.isEmpty() ? new String[0] : text.split(",", -1)) {
                if (!part.matches("\\d{1,9}")) {
                    throw Refusal.refuse("bad_value", "`%s=%s` must be a list of CPU numbers such as 0,1", key, text);
                }
                cpus.add(Integer.parseInt(part));
            }
            return cpus;
        }

        void nothingLeft(String complaint) {
            for (String key : values.keySet()) {
                throw Refusal.refuse("unknown_key", "`%s` %s", key, complaint);
            }
        }
    }
}
