package switchcost.kit;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;

/**
 * Brings the code into its compiled state before anything is measured: the whole measurement is carried out again and
 * again on small rings that are thrown away, by the same code and with fresh threads each time.
 *
 * One long warm-up of the ring that is measured would not do. The compiler replaces a loop while it runs, but not the
 * frames below it; a virtual thread whose outermost frames are interpreted takes the slow way to the heap and back at
 * every switch, for ever: the "first round" that costs twice as much. After some thousand beginnings, also the
 * outermost frames of a new thread are compiled.
 */
final class Rehearsal {

    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
    private static final int MOST_CONTEXTS = 8;
    private static final Map<String, Long> MOST_BYTES = Map.of("payload", 256L, WorkingSets.NAME, 4096L);
    private static final int SHORT_LAPS = 8;
    /** A long rehearsal lasts about as long as this. */
    private static final long LONG_NS = 10_000_000;
    /** Rehearsals end when the compiler has done nothing for this long, and take at most this long in all. */
    private static final long QUIET_NS = 60_000_000;
    private static final long MOST_NS = 3_000_000_000L;
    /** The same for the ring that is measured. */
    static final long MOST_SETTLING_NS = 1_000_000_000L;

    private Rehearsal() {}

    /** Time that the just-in-time compiler has taken so far, -1 where there is none or it does not tell. */
    static long compilerMs() {
        return COMPILER == null || !COMPILER.isCompilationTimeMonitoringSupported()
            ? -1
            : COMPILER.getTotalCompilationTime();
    }

    /** Returns how many rehearsals there were. */
    static int hold(Plan asked) {
        Plan plan = asked.forRehearsal(MOST_CONTEXTS, MOST_BYTES);
        long begin = System.nanoTime();
        int held = 0;
        for (; held < plan.mechanism().rehearsals() && System.nanoTime() - begin < MOST_NS; held++) {
            once(plan, SHORT_LAPS);
        }
        long[] laps = { SHORT_LAPS };
        return (
            held +
            untilQuiet(MOST_NS - (System.nanoTime() - begin), () -> {
                long ns = once(plan, laps[0]);
                laps[0] = ns < LONG_NS ? laps[0] * 2 : laps[0];
            })
        );
    }

    /** Repeats `act` until the compiler has had nothing to do for a while, or the time is up. Returns how often. */
    static int untilQuiet(long mostNs, Runnable act) {
        long begin = System.nanoTime();
        long quietSince = begin;
        long compiler = compilerMs();
        int times = 0;
        for (; System.nanoTime() - begin < mostNs && System.nanoTime() - quietSince < QUIET_NS; times++) {
            act.run();
            long now = compilerMs();
            if (now != compiler) {
                compiler = now;
                quietSince = System.nanoTime();
            }
        }
        return times;
    }

    /**
     * Gives the compiler the CPU until it has nothing left to do. Otherwise it takes its share of the first batches, for
     * code that ran before them: on one CPU that is batches which last three times as long.
     */
    static void letCompilerFinish() {
        final int pauseMs = 10;
        final int mostPauses = 100;
        long before = -1;
        long now = compilerMs();
        for (int quiet = 0, i = 0; quiet < 3 && i < mostPauses; i++) {
            before = now;
            try {
                Thread.sleep(pauseMs);
            } catch (InterruptedException error) {
                return;
            }
            now = compilerMs();
            quiet = now == before ? quiet + 1 : 0;
        }
    }

    private static long once(Plan plan, long laps) {
        Workload workload = plan.mechanism().setUp(plan);
        Stage stage = new Stage(plan, workload, laps * workload.lap(), 1, 1).perform();
        workload.close();
        stage.dismiss();
        return stage.ticks[1];
    }
}
