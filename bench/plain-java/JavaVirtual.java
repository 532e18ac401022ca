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
            ring(16, 1, false);
        }
        for (int i = 0; i < 50; i++) {
            ring(switches, 1, false);
        }
        ring(switches, batches, true);
    }

    private static void ring(long switches, int batches, boolean print) throws InterruptedException {
        toPartner = 0;
        toDriver = 0;
        partner = Thread.ofVirtual().unstarted(() -> live(switches / 2 * batches));
        driver = Thread.ofVirtual().unstarted(() -> drive(switches, batches, print));
        partner.start();
        driver.start();
        driver.join();
        partner.join();
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

    private static void drive(long switches, int batches, boolean print) {
        long lap = 0;
        for (int batch = 0; batch < batches; batch++) {
            long begin = System.nanoTime();
            for (long end = lap + switches / 2; lap < end;) {
                lap++;
                toPartner = lap;
                LockSupport.unpark(partner);
                while (toDriver != lap) {
                    LockSupport.park();
                }
            }
            long ns = System.nanoTime() - begin;
            if (print) {
                System.out.println((double) ns / switches);
            }
        }
    }
}
