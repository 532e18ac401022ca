package switchcost.mechanisms;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

/** Message by LockSupport: two boxes say how many messages are there, and how many are back. */
final class ParkEcho extends Echo {

    private static final long STOP = -1;

    private final Thread partner;
    private Thread driver;
    private long messages;
    private volatile long there;
    private volatile long back;

    ParkEcho(ThreadFactory threads, int size) {
        super(size);
        partner = threads.newThread(this::serve);
        Workloads.start(partner, 1, 2);
    }

    private void serve() {
        for (long due = 1; ; due++) {
            long found;
            while ((found = there) != due) {
                if (found == STOP) {
                    return;
                }
                LockSupport.park();
            }
            answer();
            back = due;
            LockSupport.unpark(driver);
        }
    }

    @Override
    void trip() {
        long message = ++messages;
        there = message;
        LockSupport.unpark(partner);
        while (back != message) {
            LockSupport.park();
        }
    }

    @Override
    public void run(long units) {
        driver = Thread.currentThread();
        super.run(units);
    }

    @Override
    public void runEach(long units, switchcost.kit.Histogram histogram) {
        driver = Thread.currentThread();
        super.runEach(units, histogram);
    }

    @Override
    public void close() {
        there = STOP;
        LockSupport.unpark(partner);
    }
}
