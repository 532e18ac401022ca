package switchcost.kit;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongUnaryOperator;

/**
 * A probe of one mechanism of the reader's own: contexts that a driver resumes in turn, each with the token that the one before
 * it handed on. What `switchcost new-probe --language java` starts from.
 *
 * The driver is not a context: a switch is one suspension and one resumption.
 */
public final class Own implements Mechanism {

    /** What no turn makes anything else of. A context that gets it hands it on and ends. */
    public static final long END = -1;

    /**
     * Makes a context that is suspended. Resumed with a token it hands on what `turn` makes of it, and suspends again, or ends.
     * Gives what resumes it: it takes a token and gives the one that is handed on.
     */
    public interface Start {
        LongUnaryOperator make(LongUnaryOperator turn);
    }

    private final String id;
    private final List<String> experiments;
    private final ThreadFactory driver;
    private final Start start;
    private final LongUnaryOperator makeAndEnd;
    private final String resumer;

    private Own(
        String id,
        List<String> experiments,
        ThreadFactory driver,
        Start start,
        LongUnaryOperator makeAndEnd,
        String resumer
    ) {
        this.id = id;
        this.experiments = experiments;
        this.driver = driver;
        this.start = start;
        this.makeAndEnd = makeAndEnd;
        this.resumer = resumer;
    }

    /**
     * One mechanism of several. `resumer` is a class of the language's own: each turn of the verification pass must have a frame
     * of it below, or the driver only called a method.
     */
    public static Mechanism mechanism(
        String id,
        ThreadFactory driver,
        Start start,
        LongUnaryOperator makeAndEnd,
        String resumer
    ) {
        return new Own(id, Experiments.OF_RESUMED, driver, start, makeAndEnd, resumer);
    }

    /** The same where the contexts are those of another, so that only their switch is measured. */
    public static Mechanism switching(String id, ThreadFactory driver, Start start, String resumer) {
        return new Own(id, Experiments.OF_SWITCHES, driver, start, null, resumer);
    }

    /**
     * The whole of a probe. `driver` makes the thread that resumes the contexts. `makeAndEnd` makes a context, enters it once with
     * the token, lets it end, and gives the token plus one.
     */
    public static void probe(
        String[] words,
        String name,
        String id,
        ThreadFactory driver,
        Start start,
        LongUnaryOperator makeAndEnd
    ) {
        Main.main(name, List.of(new Own(id, Experiments.OF_RESUMED, driver, start, makeAndEnd, null)), words);
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public List<String> experiments() {
        return experiments;
    }

    @Override
    public List<Parameter> parameters() {
        return List.of(HeapOffset.PARAMETER);
    }

    @Override
    public Refusal unavailable() {
        return null;
    }

    @Override
    public ThreadFactory threads() {
        return driver;
    }

    @Override
    public boolean pinsContexts() {
        return false;
    }

    @Override
    public int rehearsals() {
        return 6000;
    }

    @Override
    public Workload setUp(Plan plan) {
        return Experiments.contextsEnd(plan) ? new Creation() : new Ring((int) plan.contexts());
    }

    @Override
    public Population hold(Plan plan, long contexts) {
        Ring ring = new Ring((int) contexts);
        ring.run(contexts);
        return new Population() {
            @Override
            public long ran() {
                return ring.turns().total;
            }

            @Override
            public void release() {
                ring.close();
            }
        };
    }

    private static final class Member implements LongUnaryOperator {

        private static final long NEVER = -2;

        final Ring ring;
        final int number;
        long due; // The token that comes next; NEVER while the ring is verified.
        long later; // The token that comes next while it is.
        long atReset;

        Member(Ring ring, int number) {
            this.ring = ring;
            this.number = number;
            due = number;
            atReset = number;
        }

        @Override
        public long applyAsLong(long token) {
            if (token != due) {
                return visit(token);
            }
            due += ring.members.length;
            return token + 1;
        }

        // Compiled into each turn (see the launcher): a call that a turn may make costs a Kotlin sequence 1.5 ns of 8.
        private long visit(long token) {
            if (token == END) {
                return END;
            }
            if (due != NEVER || token != later) {
                ring.broken = true;
                return token;
            }
            // A turn that was only called is nobody's, which the host finds.
            ring.trace.visit(token - ring.base + 1, ring.isResumed() ? number : -1);
            later += ring.members.length;
            return token + 1;
        }
    }

    private final class Ring implements Workload {

        final Member[] members;
        private final LongUnaryOperator[] contexts;
        private long token;
        private long base; // The token at the beginning of what is counted or verified.
        private volatile boolean broken;
        private Trace trace;

        Ring(int size) {
            members = new Member[size];
            contexts = new LongUnaryOperator[size];
            for (int i = 0; i < size; i++) {
                members[i] = new Member(this, i);
                contexts[i] = start.make(members[i]);
            }
        }

        /** This turn is a resumption. */
        boolean isResumed() {
            return (
                resumer == null ||
                StackWalker.getInstance().walk(all -> all.anyMatch(frame -> frame.getClassName().equals(resumer)))
            );
        }

        @Override
        public long lap() {
            return contexts.length;
        }

        @Override
        public void run(long units) {
            LongUnaryOperator[] all = contexts;
            long next = token;
            for (long laps = units / all.length; laps > 0; laps--) {
                for (LongUnaryOperator context : all) {
                    next = context.applyAsLong(next);
                }
            }
            passed(units, next);
        }

        @Override
        public void runEach(long units, Histogram histogram) {
            long next = token;
            for (long laps = units / contexts.length; laps > 0; laps--) {
                for (LongUnaryOperator context : contexts) {
                    long begin = System.nanoTime();
                    next = context.applyAsLong(next);
                    histogram.arrive(begin);
                }
            }
            passed(units, next);
        }

        private void passed(long units, long next) {
            token += units;
            broken |= next != token;
        }

        @Override
        public void reset() {
            base = token;
            for (Member member : members) {
                member.atReset = member.due;
            }
        }

        @Override
        public Turns turns() {
            Turns turns = new Turns();
            for (Member member : members) {
                turns.count((member.due - member.atReset) / members.length);
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
            trace = into;
            base = token;
            for (Member member : members) {
                member.later = member.due;
                member.due = Member.NEVER;
            }
            // The token comes from the last context.
            into.visit(0, members.length - 1);
            run(units);
            return true;
        }

        @Override
        public void close() {
            Arrays.stream(contexts).forEach(context -> context.applyAsLong(END));
        }
    }

    private final class Creation implements Workload {

        private long token;
        private long base;

        @Override
        public long lap() {
            return 1;
        }

        @Override
        public void run(long units) {
            long next = token;
            for (; units > 0; units--) {
                next = makeAndEnd.applyAsLong(next);
            }
            token = next;
        }

        @Override
        public void runEach(long units, Histogram histogram) {
            for (; units > 0; units--) {
                long begin = System.nanoTime();
                token = makeAndEnd.applyAsLong(token);
                histogram.arrive(begin);
            }
        }

        @Override
        public void reset() {
            base = token;
        }

        /** Each context has one turn, in which it counts the token up. */
        @Override
        public Turns turns() {
            return Turns.oneEach(token());
        }

        @Override
        public long token() {
            return token - base;
        }
    }
}
