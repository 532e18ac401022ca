package switchcost.kit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;

/** Experiment footprint: memory of live, suspended threads, by the kernel's figures. Nothing is timed, the ticks are bytes. */
final class Footprint {

    /** Threads that begin before the first cycle, and at once: of the kernel, which may have room for few, and virtual ones. */
    private static final long REHEARSED = 1000;
    private static final long REHEARSED_VIRTUAL = 60_000;
    private static final long VIRTUAL_AT_ONCE = 2000;

    /** A few times the young generation that the launcher sets for this experiment: all of it has been touched then. */
    private static final int GARBAGE_BYTES = 16 << 20;

    /** A line stays below 65 536 bytes even if every number had 20 digits. */
    private static final int TICKS_A_MESSAGE = 3000;

    /** How the kernel's memory is seen to have settled: this many looks in a row that found no more given back than noise. */
    private static final int QUIET_ENOUGH = 5;
    private static final int MOST_LOOKS = 300;
    private static final long BETWEEN_LOOKS_NS = 10_000_000;
    private static final long NOISE_BYTES = 64 << 10;

    /** Nothing else keeps a virtual thread that is parked. */
    private static final List<Population> ALIVE = new ArrayList<>();

    private Footprint() {}

    /** Memory of this process in bytes. */
    record Memory(long resident, long mapped, long kernel) {
        Memory since(Memory before) {
            return new Memory(resident - before.resident, mapped - before.mapped, kernel - before.kernel);
        }
    }

    /** Name of a quantity and how to get it. */
    private record Quantity(String name, ToLongFunction<Memory> of) {}

    private static final List<Quantity> QUANTITIES = List.of(
        new Quantity("resident_bytes", Memory::resident),
        new Quantity("virtual_bytes", Memory::mapped),
        new Quantity("kernel_bytes", Memory::kernel)
    );

    /** Returns only after `end` with status ok. Threads of earlier cycles stay alive, so that none is made of what another left. */
    static void carryOut(Writer writer, Plan plan) {
        int cycles = plan.warmupBatches() + plan.batches();
        boolean ofKernel = plan.mechanism().pinsContexts();
        if (Machine.memory(ofKernel) == null) {
            throw Refusal.unsupported(
                "unsupported_here",
                "memory in use cannot be read on this system: /proc/self/smaps_rollup is missing"
            );
        }
        writer.send(plan.message(plan.contexts()));
        rehearse(plan, ofKernel);
        List<Memory> gains = new ArrayList<>();
        long entered = 0;
        for (int i = 0; i < cycles; i++) {
            Memory before = collected(ofKernel);
            Population held = plan.mechanism().hold(plan, plan.contexts());
            ALIVE.add(held);
            entered += held.ran();
            gains.add(collected(ofKernel).since(before));
        }
        report(writer, plan, gains, entered, ofKernel);
    }

    /**
     * A thread costs more while its code is not compiled: one of the kernel has 80 KB of its stack touched by the interpreter,
     * which looks for room ahead (StackShadowPages), and of a virtual one the heap holds nearly three times as much, until after
     * some 40 000 beginnings its frames are compiled as one. Virtual ones stay, and the last ones of the kernel, so that what
     * start-up left free is used up; those of the kernel end before, since there may be room for few.
     */
    private static void rehearse(Plan plan, boolean ofKernel) {
        long all = ofKernel ? REHEARSED : REHEARSED_VIRTUAL;
        long atOnce = ofKernel ? Math.min(REHEARSED, plan.contexts()) : VIRTUAL_AT_ONCE;
        for (long made = atOnce; made < all; made += atOnce) {
            Population held = plan.mechanism().hold(plan, atOnce);
            if (ofKernel) {
                held.release();
            } else {
                ALIVE.add(held);
            }
            // Few at once are many rounds: it is waited for as often as for a tenth of all.
            if (made / (all / 10) != (made - atOnce) / (all / 10)) {
                Rehearsal.letCompilerFinish();
            }
        }
        ALIVE.add(plan.mechanism().hold(plan, atOnce));
    }

    /** Memory once the garbage is gone. The young generation is filled before, so that all of it is resident at both readings. */
    private static Memory collected(boolean ofKernel) {
        for (int bytes = 0; bytes < GARBAGE_BYTES; bytes += 1024) {
            keep = new byte[1024];
        }
        keep = null;
        System.gc();
        System.gc();
        return ofKernel ? settled() : Machine.memory(false);
    }

    /** Once the kernel has given back what ended before, of whatever process: it does so up to some seconds later. */
    private static Memory settled() {
        Memory last = Machine.memory(true);
        for (int quiet = 0, looks = 0; quiet < QUIET_ENOUGH && looks < MOST_LOOKS; looks++) {
            LockSupport.parkNanos(BETWEEN_LOOKS_NS);
            Memory now = Machine.memory(true);
            quiet = now.kernel > last.kernel - NOISE_BYTES ? quiet + 1 : 0;
            last = now;
        }
        return last;
    }

    @SuppressWarnings("unused") // Written, so that the compiler cannot see that the garbage is garbage.
    private static volatile byte[] keep;

    private static void report(Writer writer, Plan plan, List<Memory> gains, long entered, boolean ofKernel) {
        long units = gains.size() * plan.contexts();
        if (entered != units) {
            throw Refusal.failed(
                "self_check_failed",
                "%d of %d threads ran before they were suspended",
                entered,
                units
            );
        }
        int seq = samples(writer, 0, "warmup", plan, gains.subList(0, plan.warmupBatches()));
        samples(writer, seq, "measure", plan, gains.subList(plan.warmupBatches(), gains.size()));
        writer.note(
            ofKernel
                ? "kernel_bytes is the change of KernelStack, PageTables and SUnreclaim in /proc/meminfo: machine-wide, so that other work shows in it"
                : "kernel_bytes is the change of this process's page tables (VmPTE)"
        );
        writer.send(
            Message.of("evidence")
                .put("units", units)
                .put("turns", Turns.oneEach(entered).message())
                .put("token", null)
                .put("kernel", null)
                .put("address_spaces", Observed.addressSpaces(entered))
                .put("why", Map.of("token", "no token is passed in this experiment"))
        );
        writer.end(null, gains.size() * (long) QUANTITIES.size());
    }

    private static int samples(Writer writer, int seq, String phase, Plan plan, List<Memory> gains) {
        for (Quantity quantity : QUANTITIES) {
            List<Long> bytes = gains.stream().map(quantity.of()::applyAsLong).toList();
            for (int begin = 0; begin < bytes.size(); begin += TICKS_A_MESSAGE) {
                writer.send(
                    Message.of("samples")
                        .put("seq", seq++)
                        .put("phase", phase)
                        .put("units", plan.contexts())
                        .put("quantity", quantity.name())
                        .put("ticks", bytes.subList(begin, Math.min(begin + TICKS_A_MESSAGE, bytes.size())))
                );
            }
        }
        return seq;
    }
}
