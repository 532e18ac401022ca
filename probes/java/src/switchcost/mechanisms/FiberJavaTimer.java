package switchcost.mechanisms;

import java.util.List;
import switchcost.kit.Mechanism;
import switchcost.kit.Wakeup;

/** fiber/java-timer: a virtual thread parks until a time that was fixed beforehand. */
final class FiberJavaTimer {

    static final Mechanism MECHANISM = new JavaThreads(
        "fiber/java-timer",
        List.of("wakeup"),
        List.of(Wakeup.PERIOD),
        Threads.VIRTUAL,
        false,
        0,
        plan -> {}
    );

    private FiberJavaTimer() {}
}
