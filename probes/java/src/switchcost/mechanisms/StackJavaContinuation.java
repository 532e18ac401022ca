package switchcost.mechanisms;

import java.util.List;
import java.util.concurrent.ThreadFactory;
import switchcost.kit.HeapOffset;
import switchcost.kit.Histogram;
import switchcost.kit.Mechanism;
import switchcost.kit.Parameter;
import switchcost.kit.Plan;
import switchcost.kit.Population;
import switchcost.kit.Refusal;
import switchcost.kit.Trace;
import switchcost.kit.Turns;
import switchcost.kit.Workload;

/**
 * stack/java-continuation: a driver resumes continuations in turn, each with the token that the one before it left.
 *
 * The driver is not a context: a switch is the yield of one, the driver's loop, and the resumption of the next.
 */
final class StackJavaContinuation implements Mechanism {

    static final Mechanism MECHANISM = new StackJavaContinuation();

    /** Continuation, copy of its frames, and member of the ring. */
    private static final long BYTES_EACH = 600;

    @Override
    public String id() {
        return "stack/java-continuation";
    }

    @Override
    public List<String> experiments() {
        return List.of("switch", "create", "footprint");
    }

    @Override
    public List<Parameter> parameters() {
        return List.of(HeapOffset.PARAMETER);
    }

    /** What nobody exports to this process is found out when it is asked for, not by `describe`. */
    @Override
    public Refusal unavailable() {
        int feature = Runtime.version().feature();
        return feature >= 21
            ? null
            : Refusal.unsupported(
                  "unsupported_here",
                  "Java %s found at %s; continuations need 21",
                  feature,
                  System.getProperty("java.home")
              );
    }

    @Override
    public ThreadFactory threads() {
        return Threads.PLATFORM;
    }

    @Override
    public boolean pinsContexts() {
        return false;
    }

    @Override
    public int rehearsals() {
        return 6000;
    }

    private static void check(long contexts) {
        if (Continuations.WHY_NOT != null) {
            throw Refusal.unsupported(
                "unsupported_here",
                "this Java has no jdk.internal.vm.Continuation that could be called: %s",
                Continuations.WHY_NOT
            );
        }
        long most = Runtime.getRuntime().maxMemory();
        if (contexts * BYTES_EACH > most) {
            throw Refusal.unsupported(
                "limit_reached",
                "%d continuations need about %d MB of heap and half of the memory here is %d MB; ask for fewer contexts",
                contexts,
                (contexts * BYTES_EACH) >> 20,
                most >> 20
            );
        }
    }

    @Override
    public Workload setUp(Plan plan) {
        check(plan.contexts());
        return plan.experiment().equals("create") ? new Made() : new Resumed(plan);
    }

    @Override
    public Population hold(Plan plan, long contexts) {
        check(contexts);
        return new Kept((int) contexts);
    }

    /** The ring. */
    private static final class Resumed implements Workload {

        private static final long STOP = Long.MIN_VALUE;
        private static final long VERIFY = Long.MIN_VALUE + 1;

        private final Member[] members;
        private final Object[] continuations; // Context 1 is the first to be resumed, context 0 the last.
        private long token; // What the next one finds.
        private long base;
        private long stamp;
        private boolean broken;
        private Histogram histogram;
        private Trace trace;

        Resumed(Plan plan) {
            int size = (int) plan.contexts();
            members = new Member[size];
            continuations = new Object[size];
            for (int i = 0; i < size; i++) {
                int number = (i + 1) % size;
                members[i] = plan.each() ? new Recording(number, i) : new Passing(number, i);
                continuations[i] = Continuations.make(members[i]);
            }
        }

        /** The loop that is measured is the outermost frame: each frame more would be copied at every switch. */
        private abstract class Member implements Runnable {

            final int number;
            long due; // Advances by a lap a turn, and so is the count of turns.
            long dueAtReset;

            Member(int number, long due) {
                this.number = number;
                this.due = due;
                dueAtReset = due;
            }

            long turns() {
                return (due - dueAtReset) / members.length;
            }

            /** The pass that verifies: turns, the command to begin with it, or a token that was not due. */
            void verifying() {
                while (token != STOP) {
                    if (token == due) {
                        trace.visit(token + 1 - base, number);
                        due += members.length;
                        token++;
                    } else {
                        broken |= token != VERIFY;
                    }
                    Continuations.suspend();
                }
            }
        }

        private final class Passing extends Member {

            Passing(int number, long due) {
                super(number, due);
            }

            @Override
            public void run() {
                long step = members.length;
                while (token == due) {
                    due += step;
                    token++;
                    Continuations.suspend();
                }
                verifying();
            }
        }

        private final class Recording extends Member {

            Recording(int number, long due) {
                super(number, due);
            }

            @Override
            public void run() {
                while (token == due) {
                    histogram.arrive(stamp);
                    due += members.length;
                    token++;
                    stamp = System.nanoTime();
                    Continuations.suspend();
                }
                verifying();
            }
        }

        private void round() {
            for (Object continuation : continuations) {
                Continuations.run(continuation);
            }
        }

        @Override
        public long lap() {
            return members.length;
        }

        @Override
        public void run(long units) {
            Object[] all = continuations;
            long end = token + units;
            for (long laps = units / all.length; laps > 0; laps--) {
                for (Object continuation : all) {
                    Continuations.run(continuation);
                }
            }
            broken |= token != end;
        }

        /** The first interval of a batch begins here and not in a continuation. */
        @Override
        public void runEach(long units, Histogram into) {
            histogram = into;
            stamp = System.nanoTime();
            run(units);
        }

        @Override
        public void reset() {
            base = token;
            for (Member member : members) {
                member.dueAtReset = member.due;
            }
        }

        @Override
        public Turns turns() {
            Turns turns = new Turns();
            for (Member member : members) {
                turns.count(member.turns());
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
        public boolean verify(long units, Trace into) {
            long before = token;
            trace = into;
            base = token;
            token = VERIFY;
            round();
            token = before;
            into.visit(0, 0);
            for (long laps = units / members.length; laps > 0; laps--) {
                round();
            }
            return true;
        }

        @Override
        public void close() {
            token = STOP;
            round();
        }
    }

    /** The driver makes a continuation and resumes it; it counts itself and ends. */
    private static final class Made extends Repeated {

        private long turns;
        private final Runnable body = () -> turns++;

        @Override
        void act() {
            Continuations.run(Continuations.make(body));
        }

        @Override
        public void reset() {
            turns = 0;
        }

        @Override
        public Turns turns() {
            return Turns.oneEach(turns);
        }

        @Override
        public long token() {
            return turns;
        }
    }

    /** Continuations that have yielded once. */
    private static final class Kept implements Population {

        private final Object[] continuations;
        private long ran;

        Kept(int contexts) {
            continuations = new Object[contexts];
            Runnable body = () -> {
                ran++;
                Continuations.suspend();
            };
            for (int i = 0; i < contexts; i++) {
                continuations[i] = Continuations.make(body);
                Continuations.run(continuations[i]);
            }
        }

        @Override
        public long ran() {
            return ran;
        }

        @Override
        public void release() {
            for (Object continuation : continuations) {
                Continuations.run(continuation);
            }
        }
    }
}
