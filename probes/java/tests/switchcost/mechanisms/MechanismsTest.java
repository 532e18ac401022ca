package switchcost.mechanisms;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import switchcost.kit.Check;
import switchcost.kit.Histogram;
import switchcost.kit.Mechanism;
import switchcost.kit.Parameter;
import switchcost.kit.Plan;
import switchcost.kit.Population;
import switchcost.kit.Refusal;
import switchcost.kit.Trace;
import switchcost.kit.Turns;
import switchcost.kit.Workload;

/** Every experiment of every mechanism, in each way of timing. */
public final class MechanismsTest {

    private MechanismsTest() {}

    /** `descriptions` is the folder of the TOML files. */
    public static void all(Path descriptions) throws Exception {
        List<String> ids = new ArrayList<>();
        for (Mechanism mechanism : Mechanisms.LIST) {
            ids.add(mechanism.id());
            described(mechanism, descriptions);
            if (mechanism.unavailable() != null) {
                System.out.println("not run: " + mechanism.id() + ": " + mechanism.unavailable().getMessage());
                continue;
            }
            if (mechanism.experiments().contains("wakeup")) {
                continue; // The kit's own tests have it: the mechanism adds nothing but a thread.
            }
            if (mechanism.threads() == Threads.PINNED) {
                needsCarriers(mechanism);
                continue;
            }
            for (String experiment : mechanism.experiments()) {
                if (experiment.equals("footprint")) {
                    Population held = mechanism.hold(Check.plan(mechanism.id(), "experiment=footprint"), 7);
                    held.release();
                    Check.same(7L, held.ran(), "threads that ran");
                    continue;
                }
                if (experiment.equals("submit")) {
                    claims(mechanism, experiment, "from=outside", "batch");
                    claims(mechanism, experiment, "from=within", "batch");
                    continue;
                }
                for (String by : List.of("by=park", "by=queue")) {
                    for (String timing : List.of("batch", "each")) {
                        claims(mechanism, experiment, by, timing);
                    }
                }
            }
            if (
                mechanism
                    .parameters()
                    .stream()
                    .anyMatch(parameter -> parameter.name().equals("by"))
            ) {
                for (String by : List.of("park", "queue")) {
                    touches(mechanism, by);
                }
            }
        }
        Check.same(ids.stream().sorted().toList(), ids, "the list is sorted by id");
    }

    /** This runs with one carrier, on which a ring would never end; whole rings are measured by `check-probe`. */
    private static void needsCarriers(Mechanism mechanism) {
        try {
            mechanism.setUp(Check.plan(mechanism.id(), "by=park", "contexts=2"));
        } catch (Refusal refusal) {
            Check.same("limit_reached", refusal.code, "two contexts on one carrier");
            return;
        }
        Check.that(false, "%s: two contexts on one carrier were not refused", mechanism.id());
    }

    private static void described(Mechanism mechanism, Path descriptions) throws IOException {
        String text = Files.readString(descriptions.resolve(mechanism.id() + ".toml"));
        for (Parameter parameter : mechanism.parameters()) {
            boolean own = text.contains("[parameters." + parameter.name() + "]");
            boolean common = text
                .lines()
                .anyMatch(line -> line.startsWith("common = ") && line.contains('"' + parameter.name() + '"'));
            Check.that(own || common, "%s: parameter %s is not described", mechanism.id(), parameter.name());
        }
    }

    private static void claims(Mechanism mechanism, String experiment, String by, String timing)
        throws InterruptedException {
        Plan plan = Check.plan(mechanism.id(), "experiment=" + experiment, by, "timing=" + timing, "contexts=5");
        Workload workload = mechanism.setUp(plan);
        onThread(mechanism, () -> claims(workload, plan));
        // Another thread takes the place of context 0.
        onThread(mechanism, () -> {
            if (experiment.equals("switch")) {
                Trace trace = new Trace(10, () -> 0, () -> 0);
                Check.that(workload.verify(10, trace), "%s does not verify", plan);
                for (int i = 0; i < trace.who.length; i++) {
                    Check.same(i % 5, trace.who[i], "who had token " + i);
                }
            }
            workload.close();
        });
    }

    /** No unit does nothing, a thousand units give a claim of a thousand. */
    private static void claims(Workload workload, Plan plan) {
        Histogram histogram = new Histogram();
        pass(workload, plan, 10, histogram);
        workload.reset();
        pass(workload, plan, 0, histogram);
        Check.that(
            workload.turns().total == 0 && workload.token() == 0,
            "%s: nothing was asked, and something happened",
            plan
        );
        pass(workload, plan, 1000, histogram);
        long want = plan.experiment().equals("message") ? 2000 : 1000; // A round trip is two switches.
        Turns turns = workload.turns();
        Check.that(
            turns.total == want && workload.token() == want && turns.min == turns.max && !workload.broken(),
            "%s: %d turns, token %d, broken %s",
            plan,
            turns.total,
            workload.token(),
            workload.broken()
        );
        Check.that(!plan.each() || histogram.count == 1010, "%s: %d intervals were recorded", plan, histogram.count);
    }

    private static void pass(Workload workload, Plan plan, long units, Histogram histogram) {
        if (plan.each()) {
            workload.runEach(units, histogram);
        } else {
            workload.run(units);
        }
    }

    /** Every unit touches every line of one set, in each way of timing; what touches nothing counts nothing. */
    private static void touches(Mechanism mechanism, String by) throws InterruptedException {
        for (String timing : List.of("batch", "each")) {
            for (String[] set : new String[][] {
                { "1", "1" },
                { "65", "2" },
                { "4096", "64" },
                { "100000", "1563" },
            }) {
                Plan plan = Check.plan(
                    mechanism.id(),
                    "by=" + by,
                    "timing=" + timing,
                    "contexts=5",
                    "working_set=" + set[0]
                );
                Workload workload = mechanism.setUp(plan);
                onThread(mechanism, () -> {
                    pass(workload, plan, 10, new Histogram());
                    workload.reset();
                    pass(workload, plan, 50, new Histogram());
                    Check.same(
                        Map.of("touches", 50 * Long.parseLong(set[1])),
                        workload.counts(),
                        "working_set=" + set[0] + " " + plan
                    );
                    Check.that(workload.verify(10, new Trace(10, () -> 0, () -> 0)), "%s does not verify", plan);
                    workload.close();
                });
            }
        }
        Workload plain = mechanism.setUp(Check.plan(mechanism.id(), "by=" + by));
        Check.same(Map.of(), plain.counts(), "counts of a ring that touches nothing");
        onThread(mechanism, plain::close);
        try {
            mechanism.setUp(Check.plan(mechanism.id(), "by=" + by, "contexts=100000", "working_set=1073741824"));
        } catch (Refusal refusal) {
            Check.same("limit_reached", refusal.code, "working sets for which there is no memory");
            return;
        }
        Check.that(false, "%s: 100 TB of working sets were not refused", mechanism.id());
    }

    private static void onThread(Mechanism mechanism, Runnable act) throws InterruptedException {
        Throwable[] failure = { null };
        Thread thread = mechanism.threads().newThread(() -> {
            try {
                act.run();
            } catch (Throwable error) {
                failure[0] = error;
            }
        });
        thread.start();
        thread.join();
        if (failure[0] != null) {
            throw new AssertionError(failure[0]);
        }
    }
}
