package switchcost.mechanisms;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;
import switchcost.kit.Histogram;
import switchcost.kit.Native;
import switchcost.kit.Placement;
import switchcost.kit.Plan;
import switchcost.kit.Refusal;
import switchcost.kit.Trace;
import switchcost.kit.Turns;
import switchcost.kit.WorkingSets;
import switchcost.kit.Workload;

/**
 * Threads hand a token round: a number that each context checks and raises. Context 0 is the driver, whichever thread
 * calls.
 *
 * Whatever is not the number that a context is due is a command (a very negative number) or an error, so that the loops
 * pay for being measurable with one compare.
 */
final class Ring implements Workload {

    private static final long STOP = Long.MIN_VALUE;
    private static final long VERIFY = Long.MIN_VALUE + 1;

    private final Context[] contexts;
    private final Context driver;
    private final Context second;
    private final WorkingSets sets; // Null: the contexts touch nothing between two switches.
    private final WorkingSets.WorkingSet driverSet;
    private final Depth depth; // Null: the contexts make no calls below their switches.
    private long token; // As the driver knows it.
    private long last; // What the driver was handed last, the token or a command.
    private long base;
    private volatile boolean broken;
    // Handing over orders the accesses to these three.
    private long stamp; // Counter as read by the sender.
    private Histogram histogram;
    private Trace trace;

    Ring(Plan plan, ThreadFactory threads, Supplier<Context> kind) {
        Threads.checkHeap(plan.contexts(), threads);
        int size = (int) plan.contexts();
        sets = WorkingSets.of(plan);
        contexts = new Context[size];
        Arrays.setAll(contexts, i -> kind.get());
        driver = contexts[0];
        second = contexts[1];
        driverSet = setOf(0);
        depth = Depth.of(plan, sets != null);
        for (int i = 1; i < size; i++) {
            contexts[i].thread = threads.newThread(new Member(i, plan));
        }
        for (int i = 1; i < size; i++) {
            Threads.start(contexts[i].thread, i, size);
        }
    }

    private WorkingSets.WorkingSet setOf(int context) {
        return sets == null ? null : sets.of(context);
    }

    /** What every context but the driver does. */
    private final class Member implements Runnable {

        private final int number;
        private final int cpu;
        private final boolean each;
        private final Context me;
        private final Context next;
        private final WorkingSets.WorkingSet set;
        private long due;

        Member(int number, Plan plan) {
            this.number = number;
            cpu = Placement.cpuOf(plan, number);
            each = plan.each();
            me = contexts[number];
            next = contexts[(number + 1) % contexts.length];
            set = setOf(number);
            due = number;
        }

        @Override
        public void run() {
            if (cpu >= 0 && !Native.pinTo(cpu)) {
                broken = true;
            }
            if (depth == null || depth.unwound) {
                live();
            } else {
                Depth.hold(depth.calls, me, this::live);
            }
        }

        private void live() {
            long command = depth != null && depth.unwound ? unwinding() : each ? recording() : passing();
            if (command == VERIFY) {
                verifying();
            }
        }

        private long unwinding() {
            final int calls = depth.calls;
            long found = me.take(0);
            while (found == due) {
                me.turns++;
                due += contexts.length;
                found = Depth.pass(calls, me, next, found + 1, found);
            }
            return obey(found);
        }

        /** The measured loop. That the working set may be absent is a test of a local, which costs nothing beside a switch. */
        private long passing() {
            final Context from = me;
            final Context to = next;
            final WorkingSets.WorkingSet touched = set;
            final long step = contexts.length;
            long expected = due;
            long found = from.take(0);
            while (found == expected) {
                if (touched != null) {
                    touched.touch();
                }
                from.turns++;
                expected += step;
                to.put(found + 1);
                found = from.take(found);
            }
            due = expected;
            return obey(found);
        }

        private long recording() {
            long found = me.take(0);
            while (found == due) {
                histogram.arrive(stamp);
                touch(set);
                me.turns++;
                due += contexts.length;
                stamp = System.nanoTime();
                next.put(found + 1);
                found = me.take(found);
            }
            return obey(found);
        }

        private void verifying() {
            long found = me.take(VERIFY);
            while (found == due) {
                trace.visit(found - base, number);
                touch(set);
                due += contexts.length;
                next.put(found + 1);
                found = me.take(found);
            }
            obey(found);
        }

        /** Passes a command on and returns it. Passing on is the last act: the ring's fields then belong to the next context. */
        private long obey(long command) {
            broken |= command != STOP && command != VERIFY;
            next.put(command);
            return command;
        }
    }

    private static void touch(WorkingSets.WorkingSet set) {
        if (set != null) {
            set.touch();
        }
    }

    /** Sends something round once and waits for what must come back. */
    private void round(long sent, long due) {
        second.put(sent);
        last = driver.take(last);
        if (last != due) {
            throw Refusal.failed("self_check_failed", "context 0 received token %d where %d was due", last, due);
        }
    }

    private void unwind(long laps) {
        for (; laps > 0; laps--) {
            long home = token + contexts.length;
            last = Depth.pass(depth.calls, driver, second, token + 1, last);
            if (last != home) {
                throw Refusal.failed("self_check_failed", "context 0 received token %d where %d was due", last, home);
            }
            token = home;
            driver.turns++;
        }
    }

    private void passToken() {
        long home = token + contexts.length;
        round(token + 1, home);
        token = home;
    }

    private void command(long command) {
        driver.thread = Thread.currentThread();
        round(command, command);
    }

    @Override
    public long lap() {
        return contexts.length;
    }

    @Override
    public void run(long units) {
        driver.thread = Thread.currentThread();
        long laps = units / contexts.length;
        if (depth == null) {
            passTokens(laps);
        } else if (depth.unwound) {
            unwind(laps);
        } else {
            Depth.hold(depth.calls, driver, () -> passTokens(laps));
        }
    }

    private void passTokens(long laps) {
        for (; laps > 0; laps--) {
            passToken();
            touch(driverSet);
            driver.turns++;
        }
    }

    @Override
    public void runEach(long units, Histogram into) {
        driver.thread = Thread.currentThread();
        histogram = into;
        for (long laps = units / contexts.length; laps > 0; laps--) {
            stamp = System.nanoTime();
            passToken();
            into.arrive(stamp);
            touch(driverSet);
            driver.turns++;
        }
    }

    @Override
    public boolean verify(long units, Trace into) {
        base = token;
        trace = into;
        command(VERIFY);
        into.visit(0, 0);
        for (long laps = units / contexts.length; laps > 0; laps--) {
            passToken();
            into.visit(token - base, 0);
            touch(driverSet);
        }
        return true;
    }

    /** Members stand still while the driver has the token. */
    @Override
    public void reset() {
        base = token;
        for (Context context : contexts) {
            context.turns = 0;
        }
        if (sets != null) {
            sets.reset();
        }
        if (depth != null) {
            depth.reset(contexts);
        }
    }

    @Override
    public Map<String, Long> counts() {
        if (depth != null) {
            return Map.of("frames", depth.count(contexts, token()));
        }
        return sets == null ? Map.of() : Map.of("touches", sets.touches());
    }

    @Override
    public Turns turns() {
        Turns turns = new Turns();
        for (Context context : contexts) {
            turns.count(context.turns);
        }
        return turns;
    }

    @Override
    public long token() {
        return token - base;
    }

    @Override
    public boolean broken() {
        return broken;
    }

    @Override
    public void close() {
        command(STOP);
    }
}
