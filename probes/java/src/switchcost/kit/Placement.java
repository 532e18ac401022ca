package switchcost.kit;

import java.util.Set;

/** CPUs as planned: one, several or none in particular. */
public final class Placement {

    private Placement() {}

    /** The CPU that a context is to be put on, -1 for none. One CPU is the host's duty: it restricts the whole process. */
    public static int cpuOf(Plan plan, int context) {
        return plan.cpus().size() < 2 ? -1 : plan.cpus().get(context % plan.cpus().size());
    }

    /** A plan that names CPUs to which the process is not restricted would be believed. */
    static void check(Plan plan) {
        Set<Integer> allowed = Machine.allowedCpus();
        if (plan.cpus().size() > 1 && !plan.mechanism().pinsContexts()) {
            throw Refusal.refuse(
                "bad_value",
                "contexts of this mechanism cannot be pinned one by one; give one CPU or none in `cpus`"
            );
        }
        if (plan.cpus().size() > 1 && !Native.pins()) {
            throw Refusal.unsupported(
                "unsupported_here",
                "several CPUs need Java 22 on Linux: this is Java %s, which cannot pin threads",
                Runtime.version()
            );
        }
        if (allowed == null) {
            return;
        }
        if (plan.cpus().size() == 1 && !allowed.equals(Set.copyOf(plan.cpus()))) {
            throw Refusal.failed(
                "set_up_failed",
                "the plan says CPU %d, but the process is not restricted to it; start it with taskset -c %d",
                plan.cpus().get(0),
                plan.cpus().get(0)
            );
        }
        if (!allowed.containsAll(plan.cpus())) {
            throw Refusal.failed(
                "set_up_failed",
                "the plan says CPUs %s, but the process may run only on %s",
                plan.cpus(),
                allowed
            );
        }
    }
}
