package switchcost.mechanisms;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadFactory;
import java.util.function.IntFunction;
import switchcost.kit.Mechanism;
import switchcost.kit.Parameter;
import switchcost.kit.Plan;
import switchcost.kit.Population;
import switchcost.kit.Refusal;
import switchcost.kit.Workload;

/** executor/java-*: tasks are handed to an executor. The driver is a thread of its own, outside the pool. */
record JavaExecutors(String id, Refusal unavailable, IntFunction<Executor> pool) implements Mechanism {
    static final Mechanism FIXED = new JavaExecutors("executor/java-fixed-pool", null, workers ->
        Executors.newFixedThreadPool(workers, Threads.PLATFORM)
    );

    static final Mechanism FORK_JOIN = new JavaExecutors("executor/java-fork-join", null, workers ->
        new ForkJoinPool(workers, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true)
    );

    static final Mechanism VIRTUAL = new JavaExecutors(
        "executor/java-loom",
        FiberJavaTimer.MECHANISM.unavailable(),
        workers -> {
            int carriers = Integer.getInteger("jdk.virtualThreadScheduler.parallelism", 1);
            if (workers != carriers) {
                throw Refusal.unsupported(
                    "unsupported_here",
                    "this virtual machine was started with %d carrier of virtual threads; ask for workers=%d",
                    carriers,
                    carriers
                );
            }
            return task -> Threads.VIRTUAL.newThread(task).start();
        }
    );

    @Override
    public List<String> experiments() {
        return List.of("submit");
    }

    @Override
    public List<Parameter> parameters() {
        return List.of(Parameter.words("from", "outside", "within"), Parameter.integer("workers"));
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
        return 400;
    }

    @Override
    public Workload setUp(Plan plan) {
        int workers = Integer.parseInt(plan.parameters().get("workers"));
        try {
            return new Submission(plan, pool.apply(workers));
        } catch (OutOfMemoryError error) {
            throw Refusal.unsupported("limit_reached", "%d threads could not be made: %s", workers, error.getMessage());
        }
    }

    @Override
    public Population hold(Plan plan, long contexts) {
        throw new UnsupportedOperationException("an executor's tasks do not suspend");
    }

    /** Ends the threads of a pool that has some. */
    static void end(Executor pool) {
        if (pool instanceof ExecutorService service) {
            service.shutdown();
        }
    }
}
