package switchcost.mechanisms;

import java.util.concurrent.ThreadFactory;
import switchcost.kit.Machine;
import switchcost.kit.Plan;
import switchcost.kit.Refusal;
import switchcost.kit.Workload;

/** From a plan to what carries it out, the same for both kinds of threads. */
final class Workloads {

    /** Thread, stack on the heap, task and member of the ring. */
    private static final long BYTES_A_VIRTUAL_THREAD = 2000;

    private Workloads() {}

    static Workload setUp(Plan plan, ThreadFactory threads) {
        boolean park = plan.parameters().get("by").equals("park");
        switch (plan.experiment()) {
            case "create":
                return new Creation(threads);
            case "message":
                int size = Integer.parseInt(plan.parameters().get("payload"));
                return park ? new ParkEcho(threads, size) : new QueueEcho(threads, size);
            default:
                if (plan.contexts() < 2) {
                    throw Refusal.refuse("bad_value", "a ring needs at least two contexts: contexts=2 or more");
                }
                checkHeap(plan.contexts(), threads);
                return park ? new ParkRing(plan, threads) : new QueueRing(plan, threads);
        }
    }

    static void checkHeap(long contexts, ThreadFactory threads) {
        long needed = contexts * BYTES_A_VIRTUAL_THREAD;
        long most = Runtime.getRuntime().maxMemory();
        if (threads == Threads.VIRTUAL && needed > most) {
            throw Refusal.unsupported(
                "limit_reached",
                "%d virtual threads need about %d MB of heap and half of the memory here is %d MB; ask for fewer contexts",
                contexts,
                needed >> 20,
                most >> 20
            );
        }
    }

    /** Starts a context, or says at which number the system had enough. */
    static void start(Thread thread, int number, int contexts) {
        try {
            thread.start();
        } catch (OutOfMemoryError error) {
            throw Refusal.unsupported(
                "limit_reached",
                "%d of %d threads could be made, then: %s; limits here: %s. Ask for fewer contexts",
                number,
                contexts,
                error.getMessage(),
                Machine.threadLimits()
            );
        }
    }
}
