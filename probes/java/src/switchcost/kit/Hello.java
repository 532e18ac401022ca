package switchcost.kit;

import java.util.stream.Collectors;

/** What the probe says of itself. */
public final class Hello {

    private static final long TICKS_PER_SECOND = 1_000_000_000;
    private static final String CLOCK = System.getProperty("os.name").equals("Linux")
        ? "CLOCK_MONOTONIC"
        : "System.nanoTime";
    /** Set by the launcher: everything between `java` and the class. */
    private static final String FLAGS = System.getProperty("switchcost.flags");
    /** Also set by the launcher, which says it where there is no Java. */
    private static final String INSTALL = System.getProperty("switchcost.install", "");

    /** Set by a probe of another language: its version, with what stands between. */
    private static final String LANGUAGE = System.getProperty("switchcost.language", "");

    private Hello() {}

    public static void send(Writer writer, String probe, String version) {
        writer.send(
            Message.of("hello")
                .put("protocol", Plan.PROTOCOL)
                .put("probe", probe)
                .put("version", version)
                .put(
                    "runtime",
                    LANGUAGE +
                        System.getProperty("java.vm.name") +
                        " " +
                        System.getProperty("java.vm.version") +
                        (System.getProperty("java.vm.info", "").startsWith("interpreted") ? ", interpreter only" : "")
                )
                .put("compiler", null)
                .put("flags", FLAGS)
                .put("pid", ProcessHandle.current().pid())
                .put(
                    "clock",
                    new Message()
                        .put("name", CLOCK)
                        .put("ticks_per_second", TICKS_PER_SECOND)
                        .put("read_cost_ticks", readCost())
                )
                .put("counter", new Message().put("name", "System.nanoTime"))
        );
    }

    public static void sendMechanism(Writer writer, Mechanism mechanism) {
        Refusal missing = mechanism.unavailable();
        Message message = Message.of("mechanism")
            .put("id", mechanism.id())
            .put("experiments", mechanism.experiments())
            .put("timings", Measurement.TIMINGS)
            .put("parameters", mechanism.parameters().stream().map(Parameter::name).collect(Collectors.toList()))
            .put("available", missing == null);
        if (missing != null) {
            message.put("code", missing.code).put("reason", missing.getMessage()).put("install", INSTALL);
        }
        writer.send(message);
    }

    /** The mean of the quickest of some rows of readings, rounded up; enough of them that they are compiled in the end. */
    private static long readCost() {
        final int rows = 2000;
        final int readings = 100;
        long quickest = Long.MAX_VALUE;
        for (int row = 0; row < rows; row++) {
            long begin = System.nanoTime();
            long end = begin;
            for (int i = 0; i < readings; i++) {
                end = System.nanoTime();
            }
            quickest = Math.min(quickest, end - begin);
        }
        return (quickest + readings - 1) / readings;
    }
}
