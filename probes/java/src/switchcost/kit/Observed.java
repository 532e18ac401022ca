package switchcost.kit;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;

/** What can be read from outside the contexts before the first batch and after the last. */
final class Observed {

    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();

    private Map<String, Switches> tasks;
    private Switches process;
    private long[] faults;
    private long collections;
    private long compilerMs;

    private Observed() {}

    /** Reads the threads last, {@link #end} first, so that the reading itself hardly counts. */
    static Observed begin() {
        Observed o = new Observed();
        o.readRest();
        o.readThreads();
        return o;
    }

    static Observed end() {
        Observed o = new Observed();
        o.readThreads();
        o.readRest();
        return o;
    }

    private void readThreads() {
        process = Native.switchesOfProcess();
        tasks = Machine.taskSwitches();
    }

    private void readRest() {
        faults = Machine.pageFaults();
        compilerMs = Rehearsal.compilerMs();
        collections = 0;
        for (GarbageCollectorMXBean collector : COLLECTORS) {
            collections += Math.max(0, collector.getCollectionCount());
        }
    }

    /**
     * Adds the differences to `evidence`, and to `why` what cannot be seen. `threadsEnd` is true where contexts end
     * within the batches and take their own counts with them: then only the sum over the whole process tells.
     */
    static void differences(
        Observed begin,
        Observed end,
        boolean threadsEnd,
        Message evidence,
        Map<String, Object> counts,
        Map<String, Object> why
    ) {
        boolean lost =
            begin.tasks != null && end.tasks != null && !end.tasks.keySet().containsAll(begin.tasks.keySet());
        if (begin.tasks == null || end.tasks == null) {
            evidence.put("kernel", null);
            why.put("kernel", "the kernel's counts of each thread cannot be read on this system");
        } else if (!threadsEnd && !lost) {
            evidence.put("kernel", kernel(begin.tasks, end.tasks));
        } else if (begin.process != null && end.process != null) {
            evidence.put("kernel", end.process.minus(begin.process).message(end.tasks.size(), "getrusage_self"));
        } else {
            evidence.put("kernel", null);
            why.put(
                "kernel",
                "threads ended during the batches and took their counts with them; Java before 22 cannot ask for the sum"
            );
        }
        if (begin.faults != null && end.faults != null) {
            evidence.put(
                "page_faults",
                new Message()
                    .put("minor", end.faults[0] - begin.faults[0])
                    .put("major", end.faults[1] - begin.faults[1])
            );
        } else {
            why.put("page_faults", "not readable on this system");
        }
        evidence.put("gc_cycles", end.collections - begin.collections);
        if (begin.compilerMs >= 0) {
            counts.put("jit_ms", end.compilerMs - begin.compilerMs);
        }
    }

    /** One, where contexts have counted their turns into this process's own memory: nothing of another address space can reach it. */
    static Long addressSpaces(long contexts) {
        return contexts > 0 ? 1L : null;
    }

    /** A thread that began in between counts from zero. */
    private static Message kernel(Map<String, Switches> before, Map<String, Switches> after) {
        Switches sum = Switches.NONE;
        for (Map.Entry<String, Switches> task : after.entrySet()) {
            sum = sum.plus(task.getValue()).minus(before.getOrDefault(task.getKey(), Switches.NONE));
        }
        return sum.message(after.size(), "proc_task_status");
    }
}
