package switchcost.kit;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** The whole of a probe with these mechanisms. */
public final class Main {

    private static final String VERSION = "1";

    private Main() {}

    /** Carries out what the words ask, for these mechanisms, sorted by id; ends the process. */
    public static void main(String name, List<Mechanism> mechanisms, String[] words) {
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
        Hello.send(writer, name, VERSION);
        int status = 0;
        try {
            carryOut(writer, mechanisms, words);
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

    private static void carryOut(Writer writer, List<Mechanism> mechanisms, String[] words) {
        String verb = words.length == 0 ? "" : words[0];
        List<String> rest = Arrays.asList(words).subList(Math.min(1, words.length), words.length);
        switch (verb) {
            case "describe" -> {
                Plan.checkDescribe(rest);
                mechanisms.forEach(mechanism -> Hello.sendMechanism(writer, mechanism));
                writer.end(null, 0);
            }
            case "run" -> Measurement.carryOut(writer, Plan.parse(rest, mechanisms));
            default -> throw Refusal.refuse("bad_value", "the first word must be `describe` or `run`, not `%s`", verb);
        }
    }
}
