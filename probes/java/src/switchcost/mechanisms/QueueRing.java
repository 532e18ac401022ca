package switchcost.mechanisms;

import java.util.Map;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import switchcost.kit.Histogram;
import switchcost.kit.Native;
import switchcost.kit.Placement;
import switchcost.kit.Plan;
import switchcost.kit.Trace;
import switchcost.kit.Turns;
import switchcost.kit.WorkingSets;
import switchcost.kit.Workload;

/**
 * Ring by SynchronousQueue: a context takes the token from its own queue and puts it into the next one's, where that
 * context is waiting. There is one token, an object whose number each context checks and raises; a number in a box of
 * its own for every switch would time the allocator as well. Commands are negative numbers.
 */
final class QueueRing implements Workload {

    private static final long STOP = Long.MIN_VALUE;
    private static final long VERIFY = Long.MIN_VALUE + 1;

    /** What goes round. The queues order the accesses to its fields. */
    private static final class Token {

        long number;
        long stamp;
        Histogram histogram;
        Trace trace;
    }

    private final int contexts;
    private final boolean each;
    private final Member[] members;
    private final Member driver;
    private final WorkingSets sets; // Null: the contexts touch nothing between two switches.
    private final Token token = new Token();
    private long base;
    private volatile boolean broken;

    QueueRing(Plan plan, ThreadFactory threads) {
        contexts = (int) plan.contexts();
        each = plan.each();
        sets = WorkingSets.of(plan);
        members = new Member[contexts];
        for (int i = 0; i < contexts; i++) {
            members[i] = new Member(i, Placement.cpuOf(plan, i));
        }
        driver = members[0];
        for (int i = 0; i < contexts; i++) {
            members[i].out = members[(i + 1) % contexts].in;
        }
        for (int i = 1; i < contexts; i++) {
            Workloads.start(threads.newThread(members[i]), i, contexts);
        }
    }

    /** A context. Number 0 is only a queue and a count: the driver runs in {@link QueueRing#run}. */
    private final class Member implements Runnable {

        final int number;
        final int cpu;
        final WorkingSets.WorkingSet set;
        final SynchronousQueue<Token> in = new SynchronousQueue<>();
        SynchronousQueue<Token> out;
        long due;
        long turns;

        Member(int number, int cpu) {
            this.number = number;
            this.cpu = cpu;
            set = sets == null ? null : sets.of(number);
            due = number == 0 ? contexts : number;
        }

        @Override
        public void run() {
            if (cpu >= 0 && !Native.pinTo(cpu)) {
                broken = true;
            }
            try {
                long command = each ? recording() : set == null ? plain() : touching();
                if (command == VERIFY) {
                    verifying();
                }
            } catch (InterruptedException error) {
                broken = true; // Nobody interrupts.
            }
        }

        private long plain() throws InterruptedException {
            final long step = contexts;
            long expected = due;
            for (;;) {
                Token t = in.take();
                if (t.number != expected) {
                    due = expected;
                    return obey(t);
                }
                turns++;
                expected += step;
                t.number++;
                out.put(t);
            }
        }

        /** Like {@link #plain}, with a touch of the working set between receiving and sending. */
        private long touching() throws InterruptedException {
            final long step = contexts;
            long expected = due;
            for (;;) {
                Token t = in.take();
                if (t.number != expected) {
                    due = expected;
                    return obey(t);
                }
                set.touch();
                turns++;
                expected += step;
                t.number++;
                out.put(t);
            }
        }

        private long recording() throws InterruptedException {
            for (;;) {
                Token t = in.take();
                if (t.number != due) {
                    return obey(t);
                }
                t.histogram.arrive(t.stamp);
                touch();
                turns++;
                due += contexts;
                t.number++;
                t.stamp = System.nanoTime();
                out.put(t);
            }
        }

        private void verifying() throws InterruptedException {
            for (;;) {
                Token t = in.take();
                if (t.number != due) {
                    obey(t);
                    return;
                }
                t.trace.visit(t.number - base, number);
                touch();
                due += contexts;
                t.number++;
                out.put(t);
            }
        }

        /** Outside of what is timed. */
        void touch() {
            if (set != null) {
                set.touch();
            }
        }

        /** Passes a command on and returns it. */
        private long obey(Token t) throws InterruptedException {
            long command = t.number;
            broken |= command != STOP && command != VERIFY;
            out.put(t);
            return command;
        }
    }

    private void command(long command) {
        long number = token.number;
        token.number = command;
        lap(command);
        token.number = number;
    }

    /** Sends the token round once and checks with which number it comes back. */
    private void lap(long expected) {
        try {
            driver.out.put(token);
            if (driver.in.take().number != expected) {
                broken = true;
            }
        } catch (InterruptedException error) {
            broken = true; // Nobody interrupts.
        }
    }

    @Override
    public long lap() {
        return contexts;
    }

    @Override
    public void run(long units) {
        if (sets == null) {
            runPlain(units);
        } else {
            runTouching(units);
        }
    }

    private void runPlain(long units) {
        final Token t = token;
        for (long laps = units / contexts; laps > 0; laps--) {
            long home = t.number + contexts;
            t.number++;
            lap(home);
            driver.turns++;
        }
    }

    private void runTouching(long units) {
        final Token t = token;
        for (long laps = units / contexts; laps > 0; laps--) {
            long home = t.number + contexts;
            t.number++;
            lap(home);
            driver.set.touch();
            driver.turns++;
        }
    }

    @Override
    public void runEach(long units, Histogram into) {
        token.histogram = into;
        for (long laps = units / contexts; laps > 0; laps--) {
            long home = token.number + contexts;
            token.number++;
            token.stamp = System.nanoTime();
            lap(home);
            into.arrive(token.stamp);
            driver.touch();
            driver.turns++;
        }
    }

    @Override
    public boolean verify(long units, Trace into) {
        base = token.number;
        token.trace = into;
        command(VERIFY);
        into.visit(0, 0);
        for (long laps = units / contexts; laps > 0; laps--) {
            long home = token.number + contexts;
            token.number++;
            lap(home);
            into.visit(token.number - base, 0);
            driver.touch();
        }
        return true;
    }

    /** Members stand still while the driver has the token; the queues order these accesses. */
    @Override
    public void reset() {
        base = token.number;
        for (Member member : members) {
            member.turns = 0;
        }
        if (sets != null) {
            sets.reset();
        }
    }

    @Override
    public Map<String, Long> counts() {
        return sets == null ? Map.of() : Map.of("touches", sets.touches());
    }

    @Override
    public Turns turns() {
        Turns turns = new Turns();
        for (Member member : members) {
            turns.count(member.turns);
        }
        return turns;
    }

    @Override
    public long token() {
        return token.number - base;
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
