package switchcost;

import switchcost.kit.Main;
import switchcost.mechanisms.Mechanisms;

/** The Java probe of switchcost; PROTOCOL.md says how it is spoken to. The launcher `probe` chooses the runtime and starts this. */
public final class Probe {

    private Probe() {}

    public static void main(String[] words) {
        Main.main("java", Mechanisms.LIST, words);
    }
}
