package switchcost.mechanisms;

import java.util.List;
import switchcost.kit.HeapOffset;
import switchcost.kit.Mechanism;
import switchcost.kit.Plan;
import switchcost.kit.Refusal;
import switchcost.kit.WorkingSets;

/** fiber/java-pinned: virtual threads that each hold a native frame, and with it their carrier. */
final class FiberJavaPinned {

    static final Mechanism MECHANISM = new JavaThreads(
        "fiber/java-pinned",
        List.of("switch"),
        List.of(JavaThreads.BY, HeapOffset.PARAMETER, WorkingSets.PARAMETER),
        Threads.PINNED,
        false,
        400,
        FiberJavaPinned::checkCarriers
    );

    private FiberJavaPinned() {}

    /** Each context keeps its carrier: with fewer of them the ring would wait for ever. */
    private static void checkCarriers(Plan plan) {
        int carriers = Integer.getInteger(FiberJavaVirtual.PARALLELISM, 1);
        if (carriers < plan.contexts()) {
            throw Refusal.unsupported(
                "limit_reached",
                "%d contexts need as many carriers, and %s=%d; ask for fewer contexts, or start the launcher `probe`, which sets 32,766 at most, the limit of Java",
                plan.contexts(),
                FiberJavaVirtual.PARALLELISM,
                carriers
            );
        }
    }
}
