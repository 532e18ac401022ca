package switchcost.mechanisms;

import java.util.List;
import java.util.concurrent.ThreadFactory;
import switchcost.kit.Mechanism;
import switchcost.kit.Parameter;
import switchcost.kit.Plan;
import switchcost.kit.Population;
import switchcost.kit.Refusal;
import switchcost.kit.WorkingSets;
import switchcost.kit.Workload;

/**
 * fiber/java-virtual: virtual threads hand a token round a ring, context 0 too.
 *
 * `carriers` is carried out by the launcher, since the scheduler reads its properties once, when the first virtual
 * thread begins; here it is only checked.
 */
final class FiberJavaVirtual implements Mechanism {

    private static final int SINCE = 21;
    private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";

    @Override
    public String id() {
        return "fiber/java-virtual";
    }

    @Override
    public List<String> experiments() {
        return List.of("switch", "create", "message", "footprint");
    }

    @Override
    public List<Parameter> parameters() {
        return List.of(
            Parameter.words("by", "park", "park", "queue"),
            Parameter.words("carriers", "one", "one", "all"),
            Parameter.integer("payload", 8, 1, 1 << 20),
            WorkingSets.PARAMETER
        );
    }

    @Override
    public Refusal unavailable() {
        if (Runtime.version().feature() >= SINCE) {
            return null;
        }
        return Refusal.unsupported(
            "unsupported_here",
            "Java %s found at %s; virtual threads need %d",
            Runtime.version().feature(),
            System.getProperty("java.home"),
            SINCE
        );
    }

    @Override
    public ThreadFactory threads() {
        return Threads.VIRTUAL;
    }

    @Override
    public boolean pinsContexts() {
        return false;
    }

    @Override
    public int rehearsals() {
        return 6000;
    }

    @Override
    public Workload setUp(Plan plan) {
        checkCarriers(plan);
        return Workloads.setUp(plan, Threads.VIRTUAL);
    }

    private static void checkCarriers(Plan plan) {
        boolean one = plan.parameters().get("carriers").equals("one");
        if (one != "1".equals(System.getProperty(PARALLELISM))) {
            throw Refusal.failed(
                "set_up_failed",
                "carriers=%s, but %s=%s; start the launcher `probe`, which sets it",
                plan.parameters().get("carriers"),
                PARALLELISM,
                System.getProperty(PARALLELISM)
            );
        }
    }

    @Override
    public Population hold(Plan plan, long contexts) {
        checkCarriers(plan);
        return new Held(plan, Threads.VIRTUAL, contexts);
    }
}
