package switchcost.mechanisms;

import java.util.concurrent.ThreadFactory;
import switchcost.kit.Histogram;
import switchcost.kit.Refusal;
import switchcost.kit.Trace;
import switchcost.kit.Turns;
import switchcost.kit.Workload;

/** The driver makes a thread, starts it and joins it. The thread counts its turn and ends. */
final class Creation implements Workload {

    private final ThreadFactory threads;
    private long turns; // Start and join order its accesses.
    private final Runnable body = () -> turns++;

    Creation(ThreadFactory threads) {
        this.threads = threads;
    }

    @Override
    public long lap() {
        return 1;
    }

    @Override
    public void run(long units) {
        for (; units > 0; units--) {
            one();
        }
    }

    @Override
    public void runEach(long units, Histogram histogram) {
        for (; units > 0; units--) {
            long begin = System.nanoTime();
            one();
            histogram.arrive(begin);
        }
    }

    private void one() {
        Thread thread = threads.newThread(body);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException error) {
            throw Refusal.failed("self_check_failed", "the driver was interrupted");
        }
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

    @Override
    public boolean broken() {
        return false;
    }

    @Override
    public boolean verify(long units, Trace trace) {
        return false;
    }

    @Override
    public void close() {}
}
