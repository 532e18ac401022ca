package switchcost.mechanisms;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;

/**
 * Runs a body below a native frame: in a class initializer, which the virtual machine calls. A virtual thread that parks
 * there cannot leave its carrier, and parks that (JEP 444 and 491).
 */
final class Pin {

    private static final byte[] INITIALIZED = bytes();
    /** Not private: a copy of a class is not of its nest. */
    static final ThreadLocal<Runnable> BODY = new ThreadLocal<>();

    private Pin() {}

    /** Each call makes a class of its own, for a class is initialized once. */
    static void hold(Runnable body) {
        BODY.set(body);
        try {
            MethodHandles.lookup().defineHiddenClass(INITIALIZED, true);
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error); // The lookup is of this package.
        }
    }

    private static byte[] bytes() {
        try (InputStream file = Pin.class.getResourceAsStream("Pin$Initialized.class")) {
            return file.readAllBytes();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Is copied, and itself never initialized. */
    static final class Initialized {

        static {
            BODY.get().run();
        }
    }
}
