package switchcost.mechanisms;

import java.util.concurrent.ThreadFactory;
import switchcost.kit.Machine;
import switchcost.kit.Refusal;

/** Where threads come from, and how they begin and end. */
final class Threads {

    /** Daemons: what is left of a ring must not keep the process alive. */
    static final ThreadFactory PLATFORM = body -> {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        return thread;
    };

    /** Null before Java 21. Reached by reflection, so that Java 17 compiles this; the factory itself is an ordinary interface. */
    static final ThreadFactory VIRTUAL = virtual();

    /** The same, each below a native frame for as long as it lives. */
    static final ThreadFactory PINNED = VIRTUAL == null ? null : body -> VIRTUAL.newThread(() -> Pin.hold(body));

    /** Thread, stack on the heap, task and member of the ring. */
    private static final long BYTES_A_VIRTUAL_THREAD = 2000;

    private Threads() {}

    private static ThreadFactory virtual() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException | RuntimeException error) {
            return null; // 17 has no such method, 19 and 20 have it as a preview that refuses.
        }
    }

    static void checkHeap(long contexts, ThreadFactory threads) {
        long needed = contexts * BYTES_A_VIRTUAL_THREAD;
        long most = Runtime.getRuntime().maxMemory();
        if (threads == VIRTUAL && needed > most) {
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

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException error) {
            throw Refusal.failed("self_check_failed", "the driver was interrupted");
        }
    }
}
