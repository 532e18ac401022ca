package switchcost.kit;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * What a fresh thread does as context 0: two rows of batches, the second after the first.
 *
 * Every stage is a thread of its own, rehearsals included, because a virtual thread that begins while its outermost
 * frames are still interpreted keeps them interpreted, and pays for them at each switch (see {@link Rehearsal}).
 */
final class Stage implements Runnable {

    private final Plan plan;
    private final Workload workload;
    private final long units;
    private final int warmupBatches;
    private final CountDownLatch finished = new CountDownLatch(1);
    private final CountDownLatch dismissed = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile Runnable encore = () -> {};
    private volatile Throwable failure;
    final Histogram warmup; // Null where batches are timed, like the other.
    final Histogram measure;
    final long[] ticks;
    final long[][] rulers; // Read before the first batch and after each.
    final int[] cpus;

    Stage(Plan plan, Workload workload, long units, int warmupBatches, int batches) {
        this.plan = plan;
        this.workload = workload;
        this.units = units;
        this.warmupBatches = warmupBatches;
        warmup = plan.each() ? new Histogram() : null;
        measure = plan.each() ? new Histogram() : null;
        ticks = new long[warmupBatches + batches];
        rulers = Ruler.readings(ticks.length);
        cpus = new int[ticks.length + 1];
        Arrays.fill(cpus, -1); // Also touches the pages; `new` has cleared the ticks.
    }

    /** Runs it on a thread of the mechanism's kind and waits for its last batch. The thread lives on, so that the kernel keeps its counts. */
    Stage perform() {
        plan.mechanism().threads().newThread(this).start();
        await(finished);
        return this;
    }

    /** One more act on the same thread, which ends with it. */
    void dismissAfter(Runnable act) {
        encore = act;
        dismissed.countDown();
        await(ended);
    }

    private void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
        if (failure instanceof Refusal refusal) {
            throw refusal;
        }
        if (failure != null) {
            throw Refusal.failed("self_check_failed", "the driver ended by %s", failure);
        }
    }

    void dismiss() {
        dismissed.countDown();
    }

    @Override
    public void run() {
        try {
            int cpu = Placement.cpuOf(plan, 0);
            if (cpu >= 0 && !Native.pinTo(cpu)) {
                throw Refusal.failed("set_up_failed", "the driver could not be put on CPU %d", cpu);
            }
            Ruler.read(rulers, 0);
            row(0, warmupBatches, warmup);
            row(warmupBatches, ticks.length, measure);
            cpus[ticks.length] = Native.currentCpu();
        } catch (Throwable error) {
            failure = error;
        }
        finished.countDown();
        try {
            dismissed.await();
            encore.run();
        } catch (InterruptedException error) {
            // The process ends.
        } catch (Throwable error) {
            failure = error;
        }
        ended.countDown();
    }

    /** The silence of PROTOCOL.md: no writing, no allocation of its own, no floating point. */
    private void row(int from, int to, Histogram histogram) {
        long begin = System.nanoTime();
        for (int i = from; i < to; i++) {
            cpus[i] = Native.currentCpu();
            ticks[i] = batch(histogram);
            if (histogram == null) {
                Ruler.read(rulers, i + 1);
            }
        }
        if (histogram != null) {
            histogram.span = System.nanoTime() - begin;
        }
    }

    private long batch(Histogram histogram) {
        long begin = System.nanoTime();
        if (histogram == null) {
            workload.run(units);
        } else {
            workload.runEach(units, histogram);
        }
        long elapsed = System.nanoTime() - begin;
        return workload instanceof Workload.Partial partial ? partial.took() : elapsed;
    }
}
