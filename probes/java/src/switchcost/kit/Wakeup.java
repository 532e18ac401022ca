package switchcost.kit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/** Experiment wakeup: a thread waits for times that are fixed beforehand, one a period, and says of each how much later it ran. */
public final class Wakeup implements Runnable {

    /** µs between two intended times. */
    public static final Parameter PERIOD = Parameter.integer("period");

    /** What is waited for in vain before: the code is compiled, and the runtime has the threads that it needs. */
    private static final long REHEARSED_PERIOD_NS = 100_000;
    private static final int REHEARSED_BATCHES = 40;
    private static final long REHEARSED_UNITS = 10;

    /** The times do not move when it was late: what one wake-up found due is counted from its own time, each. */
    static final class Waiter {

        private final LongSupplier clock;
        private final LongConsumer sleep;
        private final long period;
        private final long first;
        long last; // When it was read last that a time had come; at first one period before the first.
        long served; // Times so far; the number of the next one.
        long several; // Wake-ups that found more than one time due.
        private long ofThisWake;

        Waiter(LongSupplier clock, LongConsumer sleep, long period) {
            this.clock = clock;
            this.sleep = sleep;
            this.period = period;
            last = clock.getAsLong();
            first = last + period;
        }

        void serve(long units, Histogram histogram) {
            for (long end = served + units; served != end; ) {
                long now = clock.getAsLong();
                long late = now - (first + served * period);
                if (late >= 0) {
                    histogram.record(late);
                    last = now;
                    served++;
                    ofThisWake++;
                    continue;
                }
                several += ofThisWake > 1 ? 1 : 0;
                ofThisWake = 0;
                sleep.accept(-late);
            }
        }
    }

    private final Waiter waiter;
    private final long units;
    private final int warmupBatches;
    private final int batches;
    private final Set<Integer> cpus = new TreeSet<>();
    private final Histogram warmup = new Histogram();
    private final Histogram measure = new Histogram();

    private Wakeup(long period, long units, int warmupBatches, int batches) {
        waiter = new Waiter(System::nanoTime, LockSupport::parkNanos, period);
        this.units = units;
        this.warmupBatches = warmupBatches;
        this.batches = batches;
    }

    /** Returns only after `end` with status ok. */
    static void carryOut(Writer writer, Plan plan) {
        // Made where it runs: times that were fixed before would have gone by while the first thread begins.
        onThread(plan, () -> new Wakeup(REHEARSED_PERIOD_NS, REHEARSED_UNITS, 0, REHEARSED_BATCHES).run());
        System.gc();
        Observed.begin(); // The first time loads classes and sets the compiler to work.
        Rehearsal.letCompilerFinish();
        long period = Long.parseLong(plan.parameters().get(PERIOD.name())) * 1000;
        long units = plan.batchUnits() > 0 ? plan.batchUnits() : Math.max(1, (plan.batchNs() + period - 1) / period);
        Observed begin = Observed.begin();
        // The times are fixed before hogs are let loose, which keep this thread from the CPU as well.
        Wakeup wakeup = new Wakeup(period, units, plan.warmupBatches(), plan.batches());
        writer.send(plan.message(units));
        onThread(plan, wakeup);
        Observed end = Observed.end();
        wakeup.report(writer, begin, end);
    }

    private static void onThread(Plan plan, Runnable act) {
        Thread thread = plan.mechanism().threads().newThread(act);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public void run() {
        row(warmupBatches, warmup);
        row(batches, measure);
    }

    private void row(int count, Histogram histogram) {
        long begin = waiter.last;
        for (int i = 0; i < count; i++) {
            waiter.serve(units, histogram);
            cpus.add(Native.currentCpu());
        }
        histogram.span = waiter.last - begin;
    }

    private void report(Writer writer, Observed begin, Observed end) {
        if (waiter.served != units * (warmupBatches + batches)) {
            throw Refusal.failed("self_check_failed", "the waiter ended before its last time");
        }
        writer.histogram(writer.histogram(0, "warmup", warmup), "measure", measure);
        Map<String, Object> why = new LinkedHashMap<>();
        Map<String, Object> counts = new LinkedHashMap<>(Map.of("wakes_for_several", waiter.several));
        Turns turns = new Turns().count(waiter.served);
        Message evidence = Message.of("evidence")
            .put("units", waiter.served)
            .put("turns", turns.message())
            .put("token", waiter.served)
            .put("address_spaces", Observed.addressSpaces(turns.contexts));
        Observed.differences(begin, end, false, evidence, counts, why);
        cpus.remove(-1);
        if (cpus.isEmpty()) {
            cpus.addAll(Machine.lastCpus());
        }
        if (cpus.isEmpty()) {
            why.put("cpus", "not readable on this system");
        }
        evidence.put("cpus", cpus.isEmpty() ? null : new ArrayList<>(cpus));
        writer.send(evidence.put("counts", counts).put("why", why));
        writer.end(null, warmup.count + measure.count);
    }
}
