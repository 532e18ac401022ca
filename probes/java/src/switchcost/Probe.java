package switchcost;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import switchcost.kit.Hello;
import switchcost.kit.Measurement;
import switchcost.kit.Plan;
import switchcost.kit.Refusal;
import switchcost.kit.Writer;
import switchcost.mechanisms.Mechanisms;

/** The Java probe of switchcost; PROTOCOL.md says how it is spoken to. The launcher `probe` chooses the runtime and starts this. */
public final class Probe {

    private static final String NAME = "java";
    private static final String VERSION = "1";

    private Probe() {}

    public static void main(String[] words) {
        Writer writer;
        try {
            writer = Writer.onDescriptor(Plan.reportFd(words));
        } catch (IOException error) {
            System.err.println(
                "the messages cannot be written to report_fd=" + Plan.reportFd(words) + ": " + error.getMessage()
            );
            Runtime.getRuntime().halt(1);
            return; // For the compiler.
        }
        Hello.send(writer, NAME, VERSION);
        int status = 0;
        try {
            carryOut(writer, words);
        } catch (Refusal refusal) {
            writer.end(refusal, 0);
            status = refusal.status.equals("unsupported") ? 0 : 1;
        } catch (OutOfMemoryError error) {
            writer.end(
                Refusal.unsupported(
                    "limit_reached",
                    "the Java heap of %d MB is full: %s; ask for fewer contexts",
                    Runtime.getRuntime().maxMemory() >> 20,
                    error.getMessage()
                ),
                0
            );
        }
        Runtime.getRuntime().halt(status); // The contexts are still there, and nobody needs them to end in good order.
    }

    private static void carryOut(Writer writer, String[] words) {
        String verb = words.length == 0 ? "" : words[0];
        List<String> rest = Arrays.asList(words).subList(Math.min(1, words.length), words.length);
        switch (verb) {
            case "describe" -> {
                Plan.checkDescribe(rest);
                Mechanisms.LIST.forEach(mechanism -> Hello.sendMechanism(writer, mechanism));
                writer.end(null, 0);
            }
            case "run" -> Measurement.carryOut(writer, Plan.parse(rest, Mechanisms.LIST));
            default -> throw Refusal.refuse("bad_value", "the first word must be `describe` or `run`, not `%s`", verb);
        }
    }
}
