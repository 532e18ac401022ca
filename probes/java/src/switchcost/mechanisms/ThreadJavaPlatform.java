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

/** thread/java-platform: Java's threads of the kernel, by the same code as fiber/java-virtual. */
final class ThreadJavaPlatform implements Mechanism {

    @Override
    public String id() {
        return "thread/java-platform";
    }

    @Override
    public List<String> experiments() {
        return List.of("switch", "create", "footprint");
    }

    @Override
    public List<Parameter> parameters() {
        return List.of(Parameter.words("by", "park", "park", "queue"), WorkingSets.PARAMETER);
    }

    @Override
    public Refusal unavailable() {
        return null;
    }

    @Override
    public ThreadFactory threads() {
        return Threads.PLATFORM;
    }

    @Override
    public boolean pinsContexts() {
        return true;
    }

    @Override
    public int rehearsals() {
        return 400;
    }

    @Override
    public Workload setUp(Plan plan) {
        return Workloads.setUp(plan, Threads.PLATFORM);
    }

    @Override
    public Population hold(Plan plan, long contexts) {
        return new Held(plan, Threads.PLATFORM, contexts);
    }
}
