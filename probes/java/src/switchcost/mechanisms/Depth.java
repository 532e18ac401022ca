package switchcost.mechanisms;

import java.util.List;
import switchcost.kit.Parameter;
import switchcost.kit.Plan;
import switchcost.kit.Refusal;

/**
 * Calls below a context's switches. held: it made so many before its first switch, and returns from none. unwound: it makes
 * them anew for each switch, which happens in the last of them, and returns from all. Each is counted where it begins.
 */
final class Depth {

    static final List<Parameter> PARAMETERS = List.of(
        Parameter.integer("depth"),
        Parameter.words("frames", "held", "unwound")
    );

    final int calls;
    final boolean unwound;
    private long before;

    private Depth(int calls, boolean unwound) {
        this.calls = calls;
        this.unwound = unwound;
    }

    /** Null: none are asked, or the mechanism has none. */
    static Depth of(Plan plan, boolean touches) {
        int calls = Integer.parseInt(plan.parameters().getOrDefault("depth", "0"));
        if (calls == 0) {
            return null;
        }
        if (touches || plan.each()) {
            throw Refusal.unsupported(
                "unsupported_here",
                "depth=%d is measured in batches and without a working set; leave those out",
                calls
            );
        }
        return new Depth(calls, plan.parameters().get("frames").equals("unwound"));
    }

    /** Runs a loop below the calls that a context holds. */
    static void hold(int left, Context context, Runnable body) {
        context.frames++;
        if (left > 1) {
            hold(left - 1, context, body);
        } else {
            body.run();
        }
    }

    /** Hands a number over below so many calls, and waits there for another one than the last. */
    static long pass(int left, Context from, Context to, long number, long last) {
        from.frames++;
        if (left > 1) {
            return pass(left - 1, from, to, number, last);
        }
        to.put(number);
        return from.take(last);
    }

    private static long sum(Context[] contexts) {
        long sum = 0;
        for (Context context : contexts) {
            sum += context.frames;
        }
        return sum;
    }

    void reset(Context[] contexts) {
        before = sum(contexts);
    }

    /** Below all of so many switches. Held: by the context with the fewest, the driver apart, whose calls are over. */
    long count(Context[] contexts, long switches) {
        if (unwound) {
            return sum(contexts) - before;
        }
        long fewest = calls;
        for (int i = 1; i < contexts.length; i++) {
            fewest = Math.min(fewest, contexts[i].frames);
        }
        return fewest * switches;
    }
}
