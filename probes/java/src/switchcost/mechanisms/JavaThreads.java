package switchcost.mechanisms;

import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Supplier;
import switchcost.kit.Mechanism;
import switchcost.kit.Parameter;
import switchcost.kit.Plan;
import switchcost.kit.Population;
import switchcost.kit.Refusal;
import switchcost.kit.Workload;

/** A mechanism whose contexts are threads of one kind; both kinds are measured by the same code. `check` refuses a plan. */
record JavaThreads(
    String id,
    List<String> experiments,
    List<Parameter> parameters,
    ThreadFactory threads,
    boolean pinsContexts,
    int rehearsals,
    Consumer<Plan> check
) implements Mechanism {
    /** How a context is handed the token. */
    static final Parameter BY = Parameter.words("by", "park", "queue");

    @Override
    public Refusal unavailable() {
        return threads != null
            ? null
            : Refusal.unsupported(
                  "unsupported_here",
                  "Java %s found at %s; virtual threads need 21",
                  Runtime.version().feature(),
                  System.getProperty("java.home")
              );
    }

    @Override
    public Workload setUp(Plan plan) {
        check.accept(plan);
        Supplier<Context> kind = plan.parameters().get("by").equals("park")
            ? Context.Parking::new
            : Context.Queueing::new;
        return switch (plan.experiment()) {
            case "create" -> new Creation(threads);
            case "message" -> new Echo(threads, kind, Integer.parseInt(plan.parameters().get("payload")));
            default -> new Ring(plan, threads, kind);
        };
    }

    @Override
    public Population hold(Plan plan, long contexts) {
        check.accept(plan);
        return new Held(plan, threads, contexts);
    }
}
