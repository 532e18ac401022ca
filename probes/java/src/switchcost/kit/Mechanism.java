package switchcost.kit;

import java.util.List;
import java.util.concurrent.ThreadFactory;

/** One line of `describe`, and how to set the mechanism up. */
public interface Mechanism {
    String id();

    List<String> experiments();

    List<Parameter> parameters();

    /** Null where the mechanism can run; else why this runtime cannot. */
    Refusal unavailable();

    /** Makes the threads of this mechanism, context 0 included. */
    ThreadFactory threads();

    /** True where each context can be told its CPU. */
    boolean pinsContexts();

    /**
     * Short rehearsals before the first calibration; see {@link Rehearsal}. Threads whose frames move to the heap and
     * back need those frames compiled from bottom to top, which takes thousands of beginnings; others do not.
     */
    int rehearsals();

    /** Does everything slow. Throws a {@link Refusal} where the plan cannot be carried out. */
    Workload setUp(Plan plan);

    /** Experiment footprint: makes threads that run once and suspend. */
    Population hold(Plan plan, long contexts);
}
