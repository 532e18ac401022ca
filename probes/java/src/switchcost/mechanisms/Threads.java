package switchcost.mechanisms;

import java.util.concurrent.ThreadFactory;

/** Where threads come from. */
final class Threads {

    /** Daemons: what is left of a ring must not keep the process alive. */
    static final ThreadFactory PLATFORM = body -> {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        return thread;
    };

    /** Null before Java 21. Reached by reflection, so that Java 17 compiles this; the factory itself is an ordinary interface. */
    static final ThreadFactory VIRTUAL = virtual();

    private Threads() {}

    private static ThreadFactory virtual() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException | RuntimeException error) {
            return null; // 17 has no such method, 19 and 20 have it as a preview that refuses.
        }
    }
}
