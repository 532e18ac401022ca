package switchcost.kit;

/** The experiments: what carries out each, and what else the kit asks. */
final class Experiments {

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
