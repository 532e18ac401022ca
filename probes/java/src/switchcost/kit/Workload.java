package switchcost.kit;

import java.util.Map;

/** A mechanism that is ready to run. Whichever thread calls is context 0, one at a time. */
public interface Workload {
    /** The smallest number of units after which everything stands where it began. */
    long lap();

    /** The measured region: `units` units, a whole number of laps. No clock, no branch on the plan, no allocation of its own. */
    void run(long units);

    /** The same with every unit recorded. The contexts must have been set up for it: the plan's timing is `each`. */
    void runEach(long units, Histogram histogram);

    /** Sets the counts of turns to zero. */
    void reset();

    /** What the contexts counted since {@link #reset}. */
    Turns turns();

    /** By how much the token's number has advanced since {@link #reset}. */
    long token();

    /** What else was counted since {@link #reset}. */
    default Map<String, Long> counts() {
        return Map.of();
    }

    /** True when a context saw a token out of order. */
    default boolean broken() {
        return false;
    }

    /** Passes the token `units` times and records each visit; false where the experiment has no ring. */
    default boolean verify(long units, Trace trace) {
        return false;
    }

    /** Lets the contexts end. */
    default void close() {}

    /** A workload whose units are said to have taken a part of the time that {@link #run} takes. */
    interface Partial extends Workload {
        /** Of the last run, ns. */
        long took();
    }
}
