package switchcost.mechanisms;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The virtual machine's own continuations, of which virtual threads are made: jdk.internal.vm.Continuation. By handles, so that
 * Java 17 compiles this; the compiler sees through them, since they are constants.
 */
final class Continuations {

    /** One scope is enough: none is nested in another. */
    private static final Object SCOPE;
    private static final MethodHandle MAKE;
    private static final MethodHandle RUN;
    private static final MethodHandle YIELD;
    /** Why there are none; null where there are. */
    static final String WHY_NOT;

    static {
        Object scope = null;
        MethodHandle[] found = new MethodHandle[3];
        String why = null;
        try {
            Class<?> scopes = Class.forName("jdk.internal.vm.ContinuationScope");
            Class<?> continuation = Class.forName("jdk.internal.vm.Continuation");
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodType withName = MethodType.methodType(void.class, String.class);
            scope = lookup.findConstructor(scopes, withName).invoke("switchcost");
            MethodType made = MethodType.methodType(void.class, scopes, Runnable.class);
            found[0] = lookup
                .findConstructor(continuation, made)
                .bindTo(scope)
                .asType(MethodType.methodType(Object.class, Runnable.class));
            found[1] = lookup
                .findVirtual(continuation, "run", MethodType.methodType(void.class))
                .asType(MethodType.methodType(void.class, Object.class));
            found[2] = lookup
                .findStatic(continuation, "yield", MethodType.methodType(boolean.class, scopes))
                .bindTo(scope);
        } catch (Throwable error) {
            why = error.toString();
        }
        SCOPE = scope;
        MAKE = found[0];
        RUN = found[1];
        YIELD = found[2];
        WHY_NOT = why;
    }

    private Continuations() {}

    /** One that has not begun. */
    static Object make(Runnable body) {
        try {
            return (Object) MAKE.invokeExact(body);
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
    }

    /** Resumes it, until it yields or ends. */
    static void run(Object continuation) {
        try {
            RUN.invokeExact(continuation);
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
    }

    /** Suspends the one that calls. */
    static void suspend() {
        try {
            boolean yielded = (boolean) YIELD.invokeExact();
            if (!yielded) {
                throw new IllegalStateException("a continuation could not yield in " + SCOPE);
            }
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
    }
}
