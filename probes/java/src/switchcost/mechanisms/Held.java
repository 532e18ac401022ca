package switchcost.mechanisms;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import switchcost.kit.Plan;
import switchcost.kit.Population;
import switchcost.kit.Refusal;

/** Threads that count themselves and park. */
final class Held implements Population {

    private final Thread[] threads;
    private final AtomicLong ran = new AtomicLong();
    private volatile boolean released;

    /** Makes them and waits until all are parked. */
    Held(Plan plan, ThreadFactory factory, long contexts) {
        if (!plan.parameters().get("by").equals("park")) {
            throw Refusal.unsupported(
                "unsupported_here",
                "footprint is measured of threads that are parked; leave `by` out"
            );
        }
        Threads.checkHeap(contexts, factory);
        Runnable body = this::live;
        threads = new Thread[(int) contexts];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = factory.newThread(body);
            Threads.start(threads[i], i, threads.length);
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                LockSupport.parkNanos(100_000);
            }
        }
    }

    private void live() {
        ran.incrementAndGet();
        while (!released) {
            LockSupport.park();
        }
    }

    @Override
    public long ran() {
        return ran.get();
    }

    @Override
    public void release() {
        released = true;
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
        }
        for (Thread thread : threads) {
            Threads.join(thread);
        }
    }
}
