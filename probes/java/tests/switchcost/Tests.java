package switchcost;

import java.nio.file.Path;
import switchcost.kit.Check;
import switchcost.kit.KitTest;
import switchcost.mechanisms.MechanismsTest;

/** All tests, without a framework: `probes/java/test` runs them. */
public final class Tests {

    private Tests() {}

    public static void main(String[] words) throws Exception {
        KitTest.all();
        MechanismsTest.all(Path.of(words[0]));
        System.out.println("Java " + Runtime.version().feature() + ": " + Check.done + " checks");
    }
}
