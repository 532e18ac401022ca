package switchcost.kit;

import java.util.List;

/** The experiments: what carries out each, and what else the kit asks. */
final class Experiments {

    /** Of contexts that a driver resumes. */
    static final List<String> OF_RESUMED = List.of("switch", "create", "footprint");

    /** Of the same, if another mechanism has the contexts. */
    static final List<String> OF_SWITCHES = List.of("switch");

    private Experiments() {}

    /** Returns only after `end` with status ok; otherwise throws a {@link Refusal}. */
    static void carryOut(Writer writer, Plan plan) {
        switch (plan.experiment()) {
            case "footprint" -> Footprint.carryOut(writer, plan);
            case "wakeup" -> Wakeup.carryOut(writer, plan);
            default -> new Measurement(writer, plan).run();
        }
    }

    /** Its contexts stay, and pass a token round. */
    static boolean ring(Plan plan) {
        return plan.experiment().equals("switch");
    }

    /** Its contexts end within the batches. */
    static boolean contextsEnd(Plan plan) {
        return plan.experiment().equals("create");
    }
}
