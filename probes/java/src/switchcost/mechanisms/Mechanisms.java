package switchcost.mechanisms;

import java.util.List;
import switchcost.kit.Mechanism;

/** One file per mechanism, and the list of them, sorted by id; a test checks it. */
public final class Mechanisms {

    public static final List<Mechanism> LIST = List.of(
        JavaExecutors.FIXED,
        JavaExecutors.FORK_JOIN,
        JavaExecutors.VIRTUAL,
        FiberJavaPinned.MECHANISM,
        FiberJavaTimer.MECHANISM,
        FiberJavaVirtual.MECHANISM,
        StackJavaContinuation.MECHANISM,
        ThreadJavaPlatform.MECHANISM
    );

    private Mechanisms() {}
}
