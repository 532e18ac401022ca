package switchcost.kit;

import java.util.Objects;

/** The few words that the tests need; a failed check ends the run with status 1. */
public final class Check {

    public static int done;

    private Check() {}

    public static void that(boolean condition, String format, Object... arguments) {
        done++;
        if (!condition) {
            throw new AssertionError(String.format(format, arguments));
        }
    }

    public static void same(Object expected, Object actual, String what) {
        that(Objects.equals(expected, actual), "%s: expected %s, got %s", what, expected, actual);
    }
}
