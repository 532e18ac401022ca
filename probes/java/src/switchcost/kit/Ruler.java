package switchcost.kit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Rulers: fixed pieces of work that have nothing to do with the mechanism. What they take right before and right after a
 * batch says how fast the machine was then, whatever the batch itself says.
 *
 * None of system calls: Java before 22 cannot make one that does nothing, and beside platform threads four of them take
 * 710 or 830 ns while all else is the same.
 */
final class Ruler {

    private static final List<String> NAMES = List.of("chain", "width");
    /** About a microsecond. */
    private static final int STEPS = 1024;
    /** After so many readings everything is compiled, or waits for the compiler. */
    private static final int FIRST_READINGS = 20_000;
    /** Keeps the compiler from leaving the work out. */
    private static long result;

    private Ruler() {}

    /** Room for readings around so many batches: before the first, and after each. By ruler. */
    static long[][] readings(int batches) {
        return new long[NAMES.size()][batches + 1];
    }

    /** Sets the compiler to work before the rehearsals, which wait for it. */
    static void warmUp() {
        long[][] readings = readings(0);
        for (int i = 0; i < FIRST_READINGS; i++) {
            read(readings, 0);
        }
    }

    /** Reads twice: the first time, after a batch, the code is anywhere but in the nearest cache. */
    static void read(long[][] readings, int at) {
        for (int pass = 0; pass < 2; pass++) {
            long begin = System.nanoTime();
            long value = chain(result);
            long chain = System.nanoTime();
            result = width(value);
            long width = System.nanoTime();
            readings[0][at] = chain - begin;
            readings[1][at] = width - chain;
        }
    }

    /** Steps that each wait for the one before. Only the clock's rate changes it, not a neighbour on the same core. */
    private static long chain(long value) {
        for (int step = 0; step < STEPS; step++) {
            value = (value * 6364136223846793005L) ^ 1442695040888963407L;
        }
        return value;
    }

    /**
     * Steps of which a core takes several per cycle: a neighbour on the same core takes its share of them. The compiler
     * would make one addition of many; with something else in between it cannot.
     */
    private static long width(long more) {
        long a = 1,
            b = 2,
            c = 3,
            d = 4,
            e = 5,
            f = 6;
        for (int step = 0; step < STEPS; step++) {
            a = (a + more) ^ step;
            b = (b + more) ^ step;
            c = (c + more) ^ step;
            d = (d + more) ^ step;
            e = (e + more) ^ step;
            f = (f + more) ^ step;
        }
        return a ^ b ^ c ^ d ^ e ^ f;
    }

    /** The slower of the readings before and after each batch, of those in [from, to). By ruler. */
    static Map<String, List<Long>> slower(long[][] readings, int from, int to) {
        Map<String, List<Long>> rulers = new LinkedHashMap<>();
        for (int ruler = 0; ruler < readings.length; ruler++) {
            List<Long> ticks = new ArrayList<>();
            for (int i = from; i < to; i++) {
                ticks.add(Math.max(readings[ruler][i], readings[ruler][i + 1]));
            }
            rulers.put(NAMES.get(ruler), ticks);
        }
        return rulers;
    }
}
