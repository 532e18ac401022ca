package switchcost.mechanisms;

import java.util.List;
import switchcost.kit.HeapOffset;
import switchcost.kit.Mechanism;
import switchcost.kit.WorkingSets;

/** thread/java-platform: Java's threads of the kernel. */
final class ThreadJavaPlatform {

    static final Mechanism MECHANISM = new JavaThreads(
        "thread/java-platform",
        List.of("switch", "create", "footprint"),
        List.of(JavaThreads.BY, HeapOffset.PARAMETER, WorkingSets.PARAMETER),
        Threads.PLATFORM,
        true,
        400,
        plan -> {}
    );

    private ThreadJavaPlatform() {}
}
