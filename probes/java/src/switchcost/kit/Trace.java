package switchcost.kit;

import java.util.Arrays;
import java.util.Set;

/** Record of the verification pass: who had the token, on which CPU and thread, indexed by the token's sequence number. */
public final class Trace {

    public final int[] who;
    public final int[] cpu;
    public final int[] thread;
    private final Native.Reader currentCpu;
    private final Native.Reader currentThread;

    /** Room for switches 1 … units and for where the token began. */
    public Trace(int units, Native.Reader currentCpu, Native.Reader currentThread) {
        who = new int[units + 1];
        cpu = new int[units + 1];
        thread = new int[units + 1];
        Arrays.fill(who, -1);
        Arrays.fill(cpu, -1);
        this.currentCpu = currentCpu;
        this.currentThread = currentThread;
    }

    /** Called by a context that came to run with the token. */
    public void visit(long sequence, int context) {
        if (sequence >= 0 && sequence < who.length) {
            who[(int) sequence] = context;
            cpu[(int) sequence] = currentCpu.read();
            thread[(int) sequence] = currentThread.read();
        }
    }

    /** What the pass shows; sameThread is -1 where a thread could not be told. */
    record Hops(long count, long inOrder, long sameCpu, long sameThread, long migrations) {}

    /** Compares every hop with the one before it; null where a CPU could not be told. */
    Hops judge(int contexts, Set<Integer> seen) {
        long inOrder = 0;
        long sameCpu = 0;
        long sameThread = 0;
        boolean threadsTold = true;
        long migrations = 0;
        int[] last = new int[contexts]; // Last CPU of each context, plus one.
        for (int i = 0; i < who.length; i++) {
            if (cpu[i] < 0) {
                return null;
            }
            seen.add(cpu[i]);
            if (who[i] >= 0 && who[i] < contexts) {
                migrations += last[who[i]] > 0 && last[who[i]] != cpu[i] + 1 ? 1 : 0;
                last[who[i]] = cpu[i] + 1;
            }
            if (i > 0) {
                inOrder += who[i] == (who[i - 1] + 1) % contexts ? 1 : 0;
                sameCpu += cpu[i] == cpu[i - 1] ? 1 : 0;
                sameThread += thread[i] == thread[i - 1] ? 1 : 0;
                threadsTold &= thread[i] >= 0;
            }
        }
        return new Hops(who.length - 1, inOrder, sameCpu, threadsTold ? sameThread : -1, migrations);
    }
}
