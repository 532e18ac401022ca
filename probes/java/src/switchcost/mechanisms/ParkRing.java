package switchcost.mechanisms;

import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
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
 * Ring by LockSupport: a context writes the token into the next one's box, unparks it, and parks until its own box
 * holds the token that it is due.
 *
 * Parking may return for no reason, so the box is read again each time. It must hold the last token or the one that is
 * due; whatever else it holds is a command (a very negative number) or an error, so that the loops pay for being
 * measurable with one compare, on a path that is about to sleep.
 */
final class ParkRing implements Workload {

    private static final long STOP = Long.MIN_VALUE;
    private static final long VERIFY = Long.MIN_VALUE + 1;

    private final int contexts;
    private final boolean each;
    private final Member[] members;
    private final Member driver;
    private final WorkingSets sets; // Null: the contexts touch nothing between two switches.
    private long sequence;
    private long base;
    private volatile boolean broken;
    private long stamp; // Counter as read by the sender; the boxes order its accesses, and those of the next two.
    private Histogram histogram;
    private Trace trace;

    ParkRing(Plan plan, ThreadFactory threads) {
        contexts = (int) plan.contexts();
        each = plan.each();
        sets = WorkingSets.of(plan);
        members = new Member[contexts];
        for (int i = 0; i < contexts; i++) {
            members[i] = new Member(i, Placement.cpuOf(plan, i));
        }
        driver = members[0];
        for (int i = 0; i < contexts; i++) {
            members[i].next = members[(i + 1) % contexts];
        }
        for (int i = 1; i < contexts; i++) {
            members[i].thread = threads.newThread(members[i]);
        }
        for (int i = 1; i < contexts; i++) {
            Workloads.start(members[i].thread, i, contexts);
        }
    }

    /** A context. Number 0 is only a box and a count: the driver runs in {@link ParkRing#run}. */
    private final class Member implements Runnable {

        final int number;
        final int cpu;
        final WorkingSets.WorkingSet set;
        Member next;
        Thread thread;
        volatile long box;
        long due;
        long turns;

        Member(int number, int cpu) {
            this.number = number;
            this.cpu = cpu;
            set = sets == null ? null : sets.of(number);
            due = number == 0 ? contexts : number;
            box = due - contexts;
        }

        @Override
        public void run() {
            if (cpu >= 0 && !Native.pinTo(cpu)) {
                broken = true;
            }
            long command = each ? recording() : set == null ? plain() : touching();
            if (command == VERIFY) {
                verifying();
            }
        }

        private long plain() {
            final Member to = next;
            final long step = contexts;
            long token = due;
            for (;;) {
                long found;
                while ((found = box) != token) {
                    if (found != token - step) {
                        due = token;
                        return obey(found);
                    }
                    LockSupport.park();
                }
                turns++;
                to.box = token + 1;
                token += step;
                LockSupport.unpark(to.thread);
            }
        }

        /** Like {@link #plain}, with a touch of the working set between receiving and sending. */
        private long touching() {
            final Member to = next;
            final long step = contexts;
            long token = due;
            for (;;) {
                long found;
                while ((found = box) != token) {
                    if (found != token - step) {
                        due = token;
                        return obey(found);
                    }
                    LockSupport.park();
                }
                set.touch();
                turns++;
                to.box = token + 1;
                token += step;
                LockSupport.unpark(to.thread);
            }
        }

        private long recording() {
            for (;;) {
                long found;
                while ((found = box) != due) {
                    if (found != due - contexts) {
                        return obey(found);
                    }
                    LockSupport.park();
                }
                histogram.arrive(stamp);
                touch();
                turns++;
                due += contexts;
                stamp = System.nanoTime();
                next.box = found + 1;
                LockSupport.unpark(next.thread);
            }
        }

        private void verifying() {
            for (;;) {
                long found;
                while ((found = box) != due) {
                    if (found != due - contexts) {
                        obey(found);
                        return;
                    }
                    LockSupport.park();
                }
                trace.visit(found - base, number);
                touch();
                due += contexts;
                next.box = found + 1;
                LockSupport.unpark(next.thread);
            }
        }

        /** Outside of what is timed. */
        void touch() {
            if (set != null) {
                set.touch();
            }
        }

        /** Passes a command on and returns it. Passing on is the last act: the ring's fields then belong to the next context. */
        private long obey(long found) {
            broken |= found != STOP && found != VERIFY;
            box = due - contexts;
            next.box = found;
            LockSupport.unpark(next.thread);
            return found;
        }

        /** The driver waits for a token or a command. */
        void await(long token) {
            long before = due - contexts;
            long found;
            while ((found = box) != token) {
                if (found != before) {
                    broken = true;
                    throw Refusal.failed(
                        "self_check_failed",
                        "context 0 received token %d where %d was due",
                        found,
                        token
                    );
                }
                LockSupport.park();
            }
        }
    }

    private void command(long command) {
        driver.thread = Thread.currentThread();
        driver.next.box = command;
        LockSupport.unpark(driver.next.thread);
        driver.await(command);
        driver.box = driver.due - contexts;
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
        final Member me = driver;
        final Member to = me.next;
        final long step = contexts;
        long token = sequence;
        me.thread = Thread.currentThread();
        for (long laps = units / step; laps > 0; laps--) {
            to.box = token + 1;
            LockSupport.unpark(to.thread);
            token += step;
            long found;
            while ((found = me.box) != token) {
                if (found != token - step) {
                    broken = true;
                    return;
                }
                LockSupport.park();
            }
            me.turns++;
        }
        sequence = token;
        me.due = token + step;
    }

    private void runTouching(long units) {
        final Member me = driver;
        final Member to = me.next;
        final long step = contexts;
        long token = sequence;
        me.thread = Thread.currentThread();
        for (long laps = units / step; laps > 0; laps--) {
            to.box = token + 1;
            LockSupport.unpark(to.thread);
            token += step;
            long found;
            while ((found = me.box) != token) {
                if (found != token - step) {
                    broken = true;
                    return;
                }
                LockSupport.park();
            }
            me.set.touch();
            me.turns++;
        }
        sequence = token;
        me.due = token + step;
    }

    @Override
    public void runEach(long units, Histogram into) {
        final Member me = driver;
        final Member to = me.next;
        me.thread = Thread.currentThread();
        histogram = into;
        for (long laps = units / contexts; laps > 0; laps--) {
            long home = sequence + contexts;
            stamp = System.nanoTime();
            to.box = sequence + 1;
            LockSupport.unpark(to.thread);
            long found;
            while ((found = me.box) != home) {
                if (found != sequence) {
                    broken = true;
                    return;
                }
                LockSupport.park();
            }
            into.arrive(stamp);
            me.touch();
            sequence = home;
            me.due = home + contexts;
            me.turns++;
        }
    }

    @Override
    public boolean verify(long units, Trace into) {
        base = sequence;
        trace = into;
        command(VERIFY);
        into.visit(0, 0);
        for (long laps = units / contexts; laps > 0; laps--) {
            driver.next.box = sequence + 1;
            LockSupport.unpark(driver.next.thread);
            driver.await(driver.due);
            sequence += contexts;
            driver.due += contexts;
            into.visit(sequence - base, 0);
            driver.touch();
        }
        return true;
    }

    /** Members stand still while the driver has the token; their boxes order these accesses. */
    @Override
    public void reset() {
        base = sequence;
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
        return sequence - base;
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
