import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;
import switchcost.kit.Own;

/** Measures fiber/@name@. Put your library's calls into make, resume and makeAndEnd; the kit does the rest. */
final class Probe {

    // What your library keeps of a context.
    private volatile Thread context;
    private volatile Thread driver;
    private volatile boolean resumed;
    private long token;

    /** Makes a context that is suspended, and gives what resumes it. */
    static LongUnaryOperator make(LongUnaryOperator turn) {
        Probe made = new Probe();
        made.context = Thread.startVirtualThread(() -> made.live(turn));
        return made::resume;
    }

    /** What a context does: it takes the token that comes and hands on what turn makes of it. */
    private void live(LongUnaryOperator turn) {
        for (long next = 0; next != Own.END; ) {
            next = turn.applyAsLong(take());
            handOn(next);
        }
    }

    /** Continues the context with this token and gives the one that it hands on. */
    private long resume(long given) {
        driver = Thread.currentThread();
        token = given;
        resumed = true;
        LockSupport.unpark(context);
        while (resumed) LockSupport.park();
        return token;
    }

    private long take() {
        while (!resumed) LockSupport.park();
        return token;
    }

    private void handOn(long next) {
        token = next;
        resumed = false;
        LockSupport.unpark(driver);
    }

    /** Makes a context, enters it once with the token, lets it end. Gives the token plus one. */
    static long makeAndEnd(long token) {
        Probe made = new Probe();
        made.context = Thread.startVirtualThread(() -> made.handOn(made.take() + 1));
        return made.resume(token);
    }

    public static void main(String[] words) {
        Own.probe(words, "@name@", "fiber/@name@", Thread.ofVirtual().factory(), Probe::make, Probe::makeAndEnd);
    }
}
