package switchcost.kit;

/** What the contexts counted themselves. */
public final class Turns {

    public long total;
    public long min;
    public long max;
    public long contexts;

    /** Adds one context's turns. */
    public Turns count(long turns) {
        min = contexts == 0 ? turns : Math.min(min, turns);
        max = Math.max(max, turns);
        total += turns;
        contexts++;
        return this;
    }

    Message message() {
        return new Message().put("total", total).put("min", min).put("max", max).put("contexts", contexts);
    }

    /** For experiments in which every created context has one turn. */
    public static Turns oneEach(long contexts) {
        Turns turns = new Turns();
        turns.total = contexts;
        turns.min = 1;
        turns.max = 1;
        turns.contexts = contexts;
        return turns;
    }
}
