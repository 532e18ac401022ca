package switchcost.mechanisms;

import java.util.List;
import switchcost.kit.HeapOffset;
import switchcost.kit.Mechanism;
import switchcost.kit.Parameter;
import switchcost.kit.Plan;
import switchcost.kit.Refusal;
import switchcost.kit.WorkingSets;

/** fiber/java-virtual: virtual threads hand a token round a ring, context 0 too. */
final class FiberJavaVirtual {

    static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";

    static final Mechanism MECHANISM = new JavaThreads(
        "fiber/java-virtual",
        List.of("switch", "create", "message", "footprint"),
        List.of(
            JavaThreads.BY,
            Parameter.words("carriers", "one", "all"),
            Depth.PARAMETERS.get(0),
            Depth.PARAMETERS.get(1),
            HeapOffset.PARAMETER,
            Parameter.integer("payload"),
            WorkingSets.PARAMETER
        ),
        Threads.VIRTUAL,
        false,
        6000,
        FiberJavaVirtual::checkCarriers
    );

    private FiberJavaVirtual() {}

    /** The launcher carries `carriers` out: the scheduler reads its properties once, when the first virtual thread begins. */
    private static void checkCarriers(Plan plan) {
        String carriers = plan.parameters().get("carriers");
        String parallelism = System.getProperty(PARALLELISM);
        if (carriers.equals("one") != "1".equals(parallelism)) {
            throw Refusal.failed(
                "set_up_failed",
                "carriers=%s, but %s=%s; start the launcher `probe`, which sets it",
                carriers,
                PARALLELISM,
                parallelism
            );
        }
    }
}
