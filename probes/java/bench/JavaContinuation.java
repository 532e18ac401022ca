import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;

/** Two continuations, resumed in turn. `JavaContinuation CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside. */
public final class JavaContinuation {

    private static final ContinuationScope SCOPE = new ContinuationScope("plain");
    private static long token;

    public static void main(String[] words) throws InterruptedException {
        long switches = Long.parseLong(words[1]);
        int batches = Integer.parseInt(words[2]);
        // Rings that are thrown away, until also the outermost frames of a new continuation are compiled.
        for (int i = 0; i < 3000; i++) {
            ring(16, 1);
        }
        for (int i = 0; i < 30; i++) {
            ring(switches, batches);
            Thread.sleep(20);
        }
        for (long ns : ring(switches, batches)) {
            System.out.println((double) ns / switches);
        }
    }

    private static long[] ring(long switches, int batches) {
        long[] ns = new long[batches];
        token = 0;
        Continuation first = new Continuation(SCOPE, () -> live(0));
        Continuation second = new Continuation(SCOPE, () -> live(1));
        for (int batch = 0; batch < batches; batch++) {
            long begin = System.nanoTime();
            for (long i = 0; i < switches; i += 2) {
                first.run();
                second.run();
            }
            ns[batch] = System.nanoTime() - begin;
        }
        token = -1;
        first.run();
        second.run();
        return ns;
    }

    private static void live(long first) {
        for (long due = first; token == due; due += 2) {
            token++;
            Continuation.yield(SCOPE);
        }
    }
}
