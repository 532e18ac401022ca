package switchcost.mechanisms;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import switchcost.kit.Refusal;

/** Message by two SynchronousQueues that pass the arrays. */
final class QueueEcho extends Echo {

    private static final byte[] STOP = {};

    private final SynchronousQueue<byte[]> there = new SynchronousQueue<>();
    private final SynchronousQueue<byte[]> back = new SynchronousQueue<>();

    QueueEcho(ThreadFactory threads, int size) {
        super(size);
        Workloads.start(threads.newThread(this::serve), 1, 2);
    }

    private void serve() {
        try {
            while (there.take() != STOP) {
                answer();
                back.put(own);
            }
        } catch (InterruptedException error) {
            broken = true; // Nobody interrupts.
        }
    }

    @Override
    void trip() {
        try {
            there.put(sent);
            if (back.take() != own) {
                broken = true;
            }
        } catch (InterruptedException error) {
            throw Refusal.failed("self_check_failed", "the driver was interrupted");
        }
    }

    @Override
    public void close() {
        try {
            there.put(STOP);
        } catch (InterruptedException error) {
            broken = true; // Nobody interrupts.
        }
    }
}
