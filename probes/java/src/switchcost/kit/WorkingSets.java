package switchcost.kit;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/**
 * The working sets of all contexts of a ring: memory that the collector neither moves nor looks at.
 *
 * A set is a number of whole cache lines. A touch adds one to the first word of a line, so that the memory itself is the
 * record of what was touched. Order and layout are those of METHODOLOGY.md.
 */
public final class WorkingSets {

    static final String NAME = "working_set";

    /** The parameter of mechanisms whose contexts can have a working set. */
    public static final Parameter PARAMETER = Parameter.integer(NAME);

    private static final int LINE = 64;
    private static final int PAGE = 4096;
    private static final int WORD = 8;
    /**
     * Three cache lines from the beginning of one set to that of the next, beside whole pages: small sets that all began
     * at the same offset of a page would share one set of the first-level cache.
     */
    private static final int COLOUR_GAP = 3 * LINE;

    /** Rings of one shape follow one another in thousands of rehearsals; they use the same memory. */
    private static WorkingSets last;

    private final WorkingSet[] sets;
    private final int bytes;
    private long touchedAtReset;

    private WorkingSets(int lines, int contexts) {
        bytes = lines * LINE;
        sets = new WorkingSet[contexts];
        long pitch = ((bytes + PAGE - 1L) / PAGE) * PAGE + COLOUR_GAP;
        require(contexts, (pitch + PAGE) * contexts);
        int step = (stepOf(lines) * LINE) / WORD;
        int perBuffer = (int) Math.max(1, (Integer.MAX_VALUE - 2L * PAGE) / pitch);
        for (int first = 0; first < contexts; first += perBuffer) {
            int count = Math.min(perBuffer, contexts - first);
            LongBuffer words = pages(contexts, pitch * count);
            for (int i = 0; i < count; i++) {
                sets[first + i] = new WorkingSet(words, (int) ((i * pitch) / WORD), bytes / WORD, step);
            }
        }
        reset();
    }

    /** The sets that a plan asks for, written once; null where it asks for none. */
    public static WorkingSets of(Plan plan) {
        int lines = (int) ((Long.parseLong(plan.parameters().get(NAME)) + LINE - 1) / LINE);
        if (lines == 0) {
            return null;
        }
        if (last == null || last.bytes != lines * LINE || last.sets.length != plan.contexts()) {
            last = new WorkingSets(lines, (int) plan.contexts());
        }
        return last;
    }

    /** What one context touches: an index into memory that it may share with others. */
    public static final class WorkingSet {

        private final LongBuffer words;
        private final int base;
        private final int length; // In words, like `step`.
        private final int step;

        private WorkingSet(LongBuffer words, int base, int length, int step) {
            this.words = words;
            this.base = base;
            this.length = length;
            this.step = step;
        }

        /** Every line once. */
        public void touch() {
            final LongBuffer memory = words;
            final int first = base;
            final int end = length;
            final int stride = step;
            int at = 0;
            do {
                memory.put(first + at, memory.get(first + at) + 1);
                at += stride;
                if (at >= end) {
                    at -= end;
                }
            } while (at != 0);
        }

        /** Also writes, so that the pages are there. */
        private long touched() {
            long sum = 0;
            for (int at = 0; at < length; at += LINE / WORD) {
                long touches = words.get(base + at);
                words.put(base + at, touches);
                sum += touches;
            }
            return sum;
        }
    }

    public WorkingSet of(int context) {
        return sets[context];
    }

    /** To be called while no context runs, like {@link #touches}. */
    public void reset() {
        touchedAtReset = touched();
    }

    /** Lines that all contexts have touched since {@link #reset}. */
    public long touches() {
        return touched() - touchedAtReset;
    }

    private long touched() {
        long sum = 0;
        for (WorkingSet set : sets) {
            sum += set.touched();
        }
        return sum;
    }

    /** The number nearest to the golden section of `lines` from above that walks through all of them. */
    static int stepOf(int lines) {
        int step = (int) ((lines * 618L) / 1000) + 1;
        while (greatestCommonDivisor(step, lines) != 1) {
            step++;
        }
        return lines == 1 ? 1 : step % lines;
    }

    private static int greatestCommonDivisor(int a, int b) {
        return b == 0 ? a : greatestCommonDivisor(b, a % b);
    }

    private static void require(int contexts, long needed) {
        long available = Machine.availableMemory();
        if (available > 0 && needed > (available / 5) * 4) {
            throw Refusal.unsupported(
                "limit_reached",
                "%d working sets need about %d MB and %d MB are available; use fewer contexts or a smaller working_set",
                contexts,
                needed >> 20,
                available >> 20
            );
        }
    }

    /** Zeroed memory that begins with a page. */
    private static LongBuffer pages(int contexts, long size) {
        try {
            ByteBuffer memory = ByteBuffer.allocateDirect((int) (size + 2 * PAGE)).alignedSlice(PAGE);
            Native.useSmallPages(memory);
            return memory.order(ByteOrder.nativeOrder()).asLongBuffer();
        } catch (OutOfMemoryError error) {
            throw Refusal.unsupported(
                "limit_reached",
                "the system refused the memory of %d working sets (%s); use fewer contexts or a smaller working_set",
                contexts,
                error.getMessage()
            );
        }
    }
}
