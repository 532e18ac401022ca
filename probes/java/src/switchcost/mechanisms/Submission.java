package switchcost.mechanisms;

import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import switchcost.kit.Histogram;
import switchcost.kit.Native;
import switchcost.kit.Plan;
import switchcost.kit.Turns;
import switchcost.kit.Workload;

/**
 * Experiment submit. The driver hands over as many tasks as there are contexts and parks until the last of them runs; or the last
 * task of each lot hands over the next lot.
 */
final class Submission implements Workload.Partial {

    private final Executor pool;
    private final boolean within;
    private final Task[] tasks;
    private final AtomicInteger atWork = new AtomicInteger(); // Orders the accesses to what is plain here.
    private final AtomicLong token = new AtomicLong();
    private long left;
    private int cpu;
    private long ran;
    private long took;
    private Thread driver;
    private volatile boolean done;

    Submission(Plan plan, Executor pool) {
        this.pool = pool;
        within = plan.parameters().get("from").equals("within");
        tasks = new Task[(int) plan.contexts()];
        for (int i = 0; i < tasks.length; i++) {
            tasks[i] = new Task();
        }
    }

    private final class Task implements Runnable {

        private long turns;
        private long sameCpu;

        @Override
        public void run() {
            turns++;
            if (Native.currentCpu() == cpu) {
                sameCpu++;
            }
            token.incrementAndGet();
            if (atWork.decrementAndGet() != 0) {
                return;
            }
            if (within && left != 0) {
                handOver();
                return;
            }
            if (!within) {
                ran = System.nanoTime();
            }
            Thread waiting = driver;
            done = true;
            LockSupport.unpark(waiting);
        }
    }

    private void handOver() {
        int lot = (int) Math.min(tasks.length, left);
        left -= lot;
        cpu = Native.currentCpu();
        atWork.set(lot);
        for (int i = 0; i < lot; i++) {
            pool.execute(tasks[i]);
        }
    }

    @Override
    public long lap() {
        return 1;
    }

    @Override
    public void run(long units) {
        driver = Thread.currentThread();
        left = units;
        took = 0;
        while (left != 0) {
            long begin = System.nanoTime();
            handOver();
            while (!done) {
                LockSupport.park(this);
            }
            done = false;
            took += (within ? System.nanoTime() : ran) - begin;
        }
    }

    @Override
    public long took() {
        return took;
    }

    @Override
    public void runEach(long units, Histogram histogram) {
        throw new UnsupportedOperationException("the experiment has no single units");
    }

    @Override
    public void reset() {
        token.set(0);
        for (Task task : tasks) {
            task.turns = 0;
            task.sameCpu = 0;
        }
    }

    @Override
    public Turns turns() {
        Turns turns = new Turns();
        for (Task task : tasks) {
            turns.count(task.turns);
        }
        return turns;
    }

    @Override
    public long token() {
        return token.get();
    }

    @Override
    public Map<String, Long> counts() {
        if (Native.currentCpu() < 0) {
            return Map.of();
        }
        long same = 0;
        for (Task task : tasks) {
            same += task.sameCpu;
        }
        return Map.of("on_submitters_cpu", same);
    }

    @Override
    public void close() {
        JavaExecutors.end(pool);
    }
}
