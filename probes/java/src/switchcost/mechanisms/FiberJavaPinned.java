package switchcost.mechanisms;

import java.util.List;
import switchcost.kit.HeapOffset;
import switchcost.kit.Mechanism;
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
        plan -> {}
    );

    private FiberJavaPinned() {}
}
