package switchcost.mechanisms;

import java.util.concurrent.ThreadFactory;
import switchcost.kit.Turns;

/** The driver makes a thread, starts it and joins it. The thread counts its turn and ends. */
final class Creation extends Repeated {

    private final ThreadFactory threads;
    private long turns; // Start and join order its accesses.
    private final Runnable body = () -> turns++;

    Creation(ThreadFactory threads) {
        this.threads = threads;
    }

    @Override
    void act() {
        Thread thread = threads.newThread(body);
        thread.start();
        Threads.join(thread);
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
}
