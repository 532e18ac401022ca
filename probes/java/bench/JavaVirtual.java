import java.util.concurrent.locks.LockSupport;

/** Two virtual threads on one carrier hand a token over by park and unpark. `JavaVirtual CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside. */
public final class JavaVirtual {

    private static Thread driver;
    private static Thread partner;
    private static volatile long toPartner;
    private static volatile long toDriver;

    public static void main(String[] words) throws InterruptedException {
        long switches = Long.parseLong(words[1]);
        int batches = Integer.parseInt(words[2]);
        // Rings that are thrown away, until also the outermost frames of a new thread are compiled.
        for (int i = 0; i < 6000; i++) {
            ring(16, 1);
        }
        for (int i = 0; i < 30; i++) {
            ring(switches, batches);
            // The compiler is a thread on the same CPU, and what it has not yet done it would do during the next batches.
            Thread.sleep(20);
        }
        for (long ns : ring(switches, batches)) {
            System.out.println((double) ns / switches);
        }
    }

    private static long[] ring(long switches, int batches) throws InterruptedException {
        long[] ns = new long[batches];
        toPartner = 0;
        toDriver = 0;
        partner = Thread.ofVirtual().unstarted(() -> live((switches / 2) * batches));
        driver = Thread.ofVirtual().unstarted(() -> drive(switches, ns));
        partner.start();
        driver.start();
        driver.join();
        partner.join();
        return ns;
    }

    private static void live(long laps) {
        for (long lap = 1; lap <= laps; lap++) {
            while (toPartner != lap) {
                LockSupport.park();
            }
            toDriver = lap;
            LockSupport.unpark(driver);
        }
    }

    private static void drive(long switches, long[] ns) {
        long lap = 0;
        for (int batch = 0; batch < ns.length; batch++) {
            long begin = System.nanoTime();
            for (long end = lap + switches / 2; lap < end; ) {
                lap++;
                toPartner = lap;
                LockSupport.unpark(partner);
                while (toDriver != lap) {
                    LockSupport.park();
                }
            }
            ns[batch] = System.nanoTime() - begin;
        }
    }
}
