package switchcost.mechanisms;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * A context as the others see it: the place where it is handed a number, and its count of turns.
 *
 * There are two ways to hand over. A process measures one of them and loads only that class, so that the compiler
 * inlines both calls.
 */
abstract class Context {

    Thread thread;
    long turns;
    long frames; // Calls below its switches, each counted where it begins.

    /** Hands the context a number and wakes it. */
    abstract void put(long number);

    /** Called by the context itself: waits until it has another number than the last one. */
    abstract long take(long last);

    /** A box and LockSupport. Parking may return for no reason, so the box is read again each time. */
    static final class Parking extends Context {

        private volatile long box;

        @Override
        void put(long number) {
            box = number;
            LockSupport.unpark(thread);
        }

        @Override
        long take(long last) {
            long found;
            while ((found = box) == last) {
                LockSupport.park();
            }
            return found;
        }
    }

    /**
     * A SynchronousQueue, at which the context is waiting. It passes the context itself, which holds the number; an
     * object for every number would time the allocator as well.
     */
    static final class Queueing extends Context {

        private final SynchronousQueue<Queueing> queue = new SynchronousQueue<>();
        private long number; // The queue orders its accesses.

        @Override
        void put(long given) {
            number = given;
            try {
                queue.put(this);
            } catch (InterruptedException error) {
                throw new IllegalStateException(error); // Nobody interrupts.
            }
        }

        @Override
        long take(long last) {
            try {
                return queue.take().number;
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        }
    }
}
