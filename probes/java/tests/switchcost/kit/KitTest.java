package switchcost.kit;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/** The kit: what the conformance suite of the host cannot see from outside. */
public final class KitTest {

    private KitTest() {}

    public static void all() {
        rehearsalsAreSmall();
        bucketsKeepTheirPromise();
        traceCountsHops();
        negativeIntervalsAreNotRecorded();
        latenciesCountFromTheIntendedTimes();
        verificationIsByTheThreadThatWasTimed();
        linesAreAscii();
        batchesGetTheSlowerReadings();
        longestLinesFit();
        procIsRead();
        blocksAreDrawnFromTheSeed();
    }

    private static void blocksAreDrawnFromTheSeed() {
        Set<Integer> drawn = new TreeSet<>();
        for (int seed = 0; seed < 20; seed++) {
            drawn.add(HeapOffset.take(plan("seed=" + seed)));
        }
        Check.that(drawn.size() > 10 && !drawn.contains(0), "blocks of %s bytes", drawn);
        for (String word : List.of("seed=1", "heap_offset=fixed")) {
            int once = HeapOffset.take(plan(word));
            Check.same(once, HeapOffset.take(plan(word)), word);
            Check.same(word.equals("seed=1"), once > 0, word);
        }
    }

    private static Plan plan(String... words) {
        return Check.plan("thread/java-platform", words);
    }

    private static void rehearsalsAreSmall() {
        Plan plan = Check.plan("fiber/java-virtual", "payload=64", "contexts=100").forRehearsal(
            8,
            Map.of("payload", 1L, "absent", 1L)
        );
        Check.same("1", plan.parameters().get("payload"), "payload of a rehearsal");
        Check.same(8L, plan.contexts(), "contexts of a rehearsal");
    }

    private static void bucketsKeepTheirPromise() {
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            long value = (random.nextLong() & Long.MAX_VALUE) >>> random.nextInt(62);
            int bucket = Histogram.bucketOf(value);
            long edge = Histogram.lowerEdge(bucket);
            Check.that(
                edge <= value &&
                    Histogram.bucketOf(edge) == bucket &&
                    (edge == 0 || Histogram.bucketOf(edge - 1) == bucket - 1),
                "%d: bucket %d begins at %d",
                value,
                bucket,
                edge
            );
            Check.that(value >= 1 << Histogram.BITS || edge == value, "%d is not exact", value);
            Check.that(value - edge <= edge >>> Histogram.BITS, "%d: bucket at %d is too wide", value, edge);
        }
        Check.that(Histogram.bucketOf(Long.MAX_VALUE) < new Histogram().counts.length, "the highest bucket is outside");
    }

    private static void traceCountsHops() {
        int[][] visits = { { 0, 0, 7 }, { 1, 0, 8 }, { 2, 1, 8 }, { 0, 1, 7 }, { 2, 1, 9 } };
        int[] now = { 0, 0 };
        Trace trace = new Trace(4, () -> now[0], () -> now[1]);
        for (int i = 0; i < visits.length; i++) {
            now[0] = visits[i][1];
            now[1] = visits[i][2];
            trace.visit(i, visits[i][0]);
        }
        Set<Integer> seen = new TreeSet<>();
        Check.same(new Trace.Hops(4, 3, 3, 1, 1), trace.judge(3, seen), "hops");
        Check.same(Set.of(0, 1), seen, "cpus");
        Check.same(null, new Trace(4, () -> -1, () -> 7).judge(3, seen), "hops where no CPU can be told");
        trace.thread[2] = -1;
        Check.same(-1L, trace.judge(3, seen).sameThread(), "hops where a thread cannot be told");
    }

    private static void negativeIntervalsAreNotRecorded() {
        Histogram histogram = new Histogram();
        histogram.arrive(System.nanoTime() + (1L << 60));
        Check.that(
            histogram.backwards == 1 && histogram.count == 0,
            "%d negative intervals, %d recorded",
            histogram.backwards,
            histogram.count
        );
    }

    /** A wake-up 3.5 periods late serves four times, each late by another length; the next times stay where they were. */
    private static void latenciesCountFromTheIntendedTimes() {
        long[] now = { 1000 };
        long[] oversleeps = { 0, 350, 20, 0 };
        List<Long> slept = new ArrayList<>();
        Wakeup.Waiter waiter = new Wakeup.Waiter(
            () -> now[0],
            length -> {
                now[0] += length + oversleeps[slept.size()];
                slept.add(length);
            },
            100
        );
        Histogram histogram = new Histogram();
        waiter.serve(2, histogram); // The second batch goes on where the first one ended, in the middle of a wake-up.
        waiter.serve(5, histogram);
        Check.same(List.of(100L, 100L, 50L, 80L), slept, "how long it slept");
        Check.same(1700L, now[0], "when it ended");
        Check.same(350L + 250 + 150 + 50 + 20, histogram.sum, "sum of latencies");
        Check.same(7L, histogram.count, "latencies");
        Check.same(350L, histogram.max, "longest latency");
        Check.same(7L, waiter.served, "times served");
        Check.same(1L, waiter.several, "wake-ups for several");
    }

    private static void verificationIsByTheThreadThatWasTimed() {
        Thread[] seen = new Thread[2];
        Workload workload = (Workload) Proxy.newProxyInstance(
            KitTest.class.getClassLoader(),
            new Class<?>[] { Workload.class },
            (proxy, method, arguments) -> {
                seen[0] = Thread.currentThread();
                return null;
            }
        );
        Plan plan = plan();
        Stage stage = new Stage(plan, workload, 1, 0, 1).perform();
        stage.dismissAfter(() -> seen[1] = Thread.currentThread());
        Check.that(seen[0] != null && seen[0] == seen[1], "%s was timed, %s verifies", seen[0], seen[1]);
        try {
            new Stage(plan, workload, 1, 0, 1).perform().dismissAfter(() -> {
                throw new IllegalStateException("of a test");
            });
        } catch (Refusal refusal) {
            Check.same("self_check_failed", refusal.code, "a verification that throws");
            return;
        }
        Check.that(false, "a verification that throws went unnoticed");
    }

    private static void linesAreAscii() {
        Check.same(
            "{\"t\":\"note\",\"text\":\"\\u00b5 <\\u00e9> \\ud83d\\ude00 \\\"\\\\\\u000a\",\"n\":null,\"list\":[1,true],\"map\":{\"a\":\"b\"}}",
            Message.of("note")
                .put("text", "µ <é> 😀 \"\\\n")
                .put("n", null)
                .put("list", List.of(1, true))
                .put("map", Collections.singletonMap("a", "b"))
                .line(),
            "line"
        );
    }

    private static void batchesGetTheSlowerReadings() {
        long[][] readings = Ruler.readings(3);
        readings[0] = new long[] { 9, 5, 3, 4 };
        Map<String, List<Long>> rulers = Ruler.slower(readings, 1, 3);
        Check.same(List.of(5L, 4L), rulers.get("chain"), "the slower of before and after");
        Check.same(readings.length, rulers.size(), "rulers");
        Ruler.read(readings, 0);
        Check.that(readings[0][0] > 100 && readings[1][0] > 100, "read: %s", Arrays.deepToString(readings));
    }

    private static void longestLinesFit() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Writer writer = new Writer(bytes);
        long[] ticks = new long[10_000];
        Arrays.fill(ticks, Long.MAX_VALUE);
        Histogram histogram = new Histogram();
        Arrays.fill(histogram.counts, Long.MAX_VALUE);
        long[][] rulers = Ruler.readings(ticks.length);
        Arrays.stream(rulers).forEach(readings -> Arrays.fill(readings, Long.MAX_VALUE));
        int seq = writer.samples(0, "measure", 1, ticks, rulers, 0, ticks.length);
        writer.histogram(seq, "measure", histogram);
        for (String line : bytes.toString(StandardCharsets.US_ASCII).split("\n")) {
            Check.that(line.length() < 65_536, "a line of %d bytes", line.length());
        }
    }

    private static void procIsRead() {
        Check.same(Set.of(0, 2, 3, 4), Machine.cpuList("0,2-4"), "CPU list");
        Check.same("12 kB", Machine.field("Name:\tx\nVmRSS:\t   12 kB\n", "VmRSS"), "field");
        Check.same(null, Machine.field("xVmRSS: 12", "VmRSS"), "a name within a name");
        if (System.getProperty("os.name").equals("Linux")) {
            Check.that(
                Machine.taskSwitches().size() > 1 && !Machine.allowedCpus().isEmpty() && Machine.pageFaults()[0] > 0,
                "nothing of /proc is read"
            );
            Check.that(
                Machine.threadLimits().matches(".*kernel.threads-max \\d{3,}.*"),
                "limits: %s",
                Machine.threadLimits()
            );
            Check.that(Machine.allowedCpus().containsAll(Machine.lastCpus()), "CPUs %s", Machine.lastCpus());
            boolean foreign = Runtime.version().feature() >= 22;
            Check.same(foreign, Native.currentCpu() >= 0, "reads the CPU");
            Check.same(foreign, Native.currentThread() > 0, "reads the thread");
            Check.same(foreign, Native.switchesOfProcess() != null, "reads the process's switches");
        }
    }
}
