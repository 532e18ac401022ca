package switchcost.kit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Carries out a plan and reports everything but `hello`. */
public final class Measurement {

    public static final List<String> TIMINGS = List.of("batch", "each");
    private static final long MOST_UNITS = 1_000_000_000_000L; // The largest k of PROTOCOL.md, section 1.

    private final Writer writer;
    private final Plan plan;
    private final Workload workload;
    private final Set<Integer> seen = new TreeSet<>();
    private long units;

    Measurement(Writer writer, Plan plan) {
        this.writer = writer;
        this.plan = plan;
        Ruler.warmUp();
        int rehearsals = Rehearsal.hold(plan);
        writer.note(
            "JIT warm-up, not counted: " + rehearsals + " iterations, " + Rehearsal.compilerMs() + " ms of the compiler"
        );
        // What the rehearsals left behind is collected now, so that the batches begin with an empty young generation and
        // the contexts' stacks are in it: the collector moves old ones to where each switch costs more.
        System.gc();
        if (Experiments.ring(plan)) {
            HeapOffset.take(plan);
        }
        workload = plan.mechanism().setUp(plan);
    }

    /** Returns only after `end` with status ok; otherwise throws a {@link Refusal}. */
    public static void carryOut(Writer writer, Plan plan) {
        Refusal missing = plan.mechanism().unavailable();
        if (missing != null) {
            throw missing;
        }
        Placement.check(plan);
        Experiments.carryOut(writer, plan);
    }

    void run() {
        units = calibrate();
        Rehearsal.untilQuiet(Rehearsal.MOST_SETTLING_NS, () -> time(units));
        writer.send(plan.message(units));
        Stage stage = new Stage(plan, workload, units, plan.warmupBatches(), plan.batches());
        workload.reset();
        Observed.begin(); // Once in vain: the first time loads classes and sets the compiler to work.
        Rehearsal.letCompilerFinish();
        Observed begin = Observed.begin();
        stage.perform();
        Observed end = Observed.end();
        Turns turns = workload.turns();
        long token = workload.token();
        checkOrder();
        long backwards = plan.each() ? stage.warmup.backwards + stage.measure.backwards : 0;
        if (backwards > 0) {
            throw Refusal.failed(
                "self_check_failed",
                "%d intervals were negative: System.nanoTime is not monotonic here; use timing=batch",
                backwards
            );
        }
        long samples = report(stage);
        sendEvidence(stage, begin, end, turns, token);
        writer.end(null, samples);
    }

    /** Rounds what was asked up to whole laps, or doubles by the rule of PROTOCOL.md, section 1. */
    private long calibrate() {
        long lap = workload.lap();
        if (plan.batchUnits() > 0) {
            return ((plan.batchUnits() + lap - 1) / lap) * lap;
        }
        long length = lap;
        for (int longEnough = 0; longEnough < 3; ) {
            if (time(length) >= plan.batchNs()) {
                longEnough++;
            } else if (2 * length > MOST_UNITS) {
                throw Refusal.unsupported(
                    "limit_reached",
                    "%d units last less than batch_ns=%d; ask for a smaller batch_ns",
                    length,
                    plan.batchNs()
                );
            } else {
                length *= 2;
                longEnough = 0;
            }
        }
        return length;
    }

    private long time(long length) {
        Stage stage = new Stage(plan, workload, length, 0, 1).perform();
        stage.dismiss();
        checkOrder();
        return stage.ticks[0];
    }

    private void checkOrder() {
        if (workload.broken()) {
            throw Refusal.failed("self_check_failed", "a context received another token than the one it was due");
        }
    }

    private long report(Stage stage) {
        for (int cpu : stage.cpus) {
            if (cpu >= 0) {
                seen.add(cpu);
            }
        }
        if (plan.each()) {
            writer.histogram(writer.histogram(0, "warmup", stage.warmup), "measure", stage.measure);
            return stage.warmup.count + stage.measure.count;
        }
        int seq = writer.samples(0, "warmup", units, stage.ticks, stage.rulers, 0, plan.warmupBatches());
        writer.samples(seq, "measure", units, stage.ticks, stage.rulers, plan.warmupBatches(), stage.ticks.length);
        return stage.ticks.length;
    }

    private void sendEvidence(Stage stage, Observed begin, Observed end, Turns turns, long token) {
        Map<String, Object> why = new LinkedHashMap<>();
        Map<String, Object> counts = new LinkedHashMap<>(workload.counts());
        Message evidence = Message.of("evidence")
            .put("units", units * stage.ticks.length)
            .put("turns", turns.message())
            .put("token", token)
            .put("address_spaces", Observed.addressSpaces(turns.contexts));
        Observed.differences(begin, end, Experiments.contextsEnd(plan), evidence, counts, why);
        if (seen.isEmpty()) {
            seen.addAll(Machine.lastCpus());
        }
        verify(stage, evidence, why);
        if (seen.isEmpty()) {
            evidence.put("cpus", null);
            why.put("cpus", "not readable on this system");
        } else {
            evidence.put("cpus", new ArrayList<>(seen));
        }
        writer.send(evidence.put("counts", counts).put("why", why));
    }

    /** By the contexts that were timed: the driver's thread goes on where it waits. */
    private void verify(Stage stage, Message evidence, Map<String, Object> why) {
        if (plan.verifyUnits() == 0 || !Experiments.ring(plan)) {
            return;
        }
        long lap = workload.lap();
        long length = ((plan.verifyUnits() + lap - 1) / lap) * lap;
        Trace trace = new Trace((int) length, Native::currentCpu, Native::currentThread);
        stage.dismissAfter(() -> workload.verify(length, trace));
        checkOrder();
        Trace.Hops hops = trace.judge((int) plan.contexts(), seen);
        if (hops == null) {
            evidence.put("hops", null).put("migrations", null);
            why.put(
                "hops",
                "Java " + Runtime.version().feature() + " cannot tell the CPU of a thread; Java 22 on Linux can"
            );
            why.put("migrations", why.get("hops"));
            return;
        }
        evidence.put("migrations", hops.migrations());
        Message message = new Message()
            .put("count", hops.count())
            .put("in_order", hops.inOrder())
            .put("same_cpu", hops.sameCpu());
        if (hops.sameThread() >= 0) {
            message.put("same_thread", hops.sameThread());
        } else {
            why.put("hops_same_thread", "the C library of this system has no gettid");
        }
        // The pass comes after the timed batches, by the same contexts.
        evidence.put("hops", message.put("timed", false));
    }
}
