package switchcost.kit;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Optional;

/**
 * Some functions of the C library through java.lang.foreign, which is final since Java 22. Reached by reflection, so
 * that Java 17 compiles and runs this; where it is missing, each function says so by its return value.
 */
public final class Native {

    private static final String PACKAGE = "java.lang.foreign.";
    private static final MethodHandle SCHED_GETCPU = link("sched_getcpu");
    private static final MethodHandle GETTID = link("gettid");
    private static final MethodHandle SCHED_SETAFFINITY = link("sched_setaffinity", "JAVA_INT", "JAVA_LONG", "ADDRESS");
    private static final MethodHandle GETRUSAGE = link("getrusage", "JAVA_INT", "ADDRESS");
    private static final MethodHandle MADVISE = link("madvise", "ADDRESS", "JAVA_LONG", "JAVA_INT");
    private static final int NO_HUGE_PAGES = 15;
    private static final int DO_NOT_NEED = 4;
    /** struct rusage is two times of two words and 14 counters of one on every 64-bit Linux. */
    private static final int VOLUNTARY = 16;
    /** As many CPUs as Linux can have. */
    private static final int CPU_SET_BYTES = 8192 / 8;
    private static final Object BUFFER = buffer(CPU_SET_BYTES);

    private Native() {}

    /** Reads something of the calling thread; an object, so that tests can put another in its place. */
    public interface Reader {
        int read();
    }

    /** The CPU that the calling thread runs on, -1 where it cannot be told. */
    public static int currentCpu() {
        return call(SCHED_GETCPU);
    }

    /** The kernel's number of the thread that calls, of a virtual one its carrier's; -1 where it cannot be told. */
    public static int currentThread() {
        return call(GETTID);
    }

    private static int call(MethodHandle function) {
        try {
            return function == null ? -1 : (int) function.invokeExact();
        } catch (Throwable error) {
            return -1;
        }
    }

    public static boolean pins() {
        return SCHED_SETAFFINITY != null && BUFFER != null;
    }

    /** Restricts the calling thread, which must be a platform thread, to a CPU. */
    public static synchronized boolean pinTo(int cpu) {
        if (!pins() || cpu >= CPU_SET_BYTES * 8) {
            return false;
        }
        try {
            long[] set = new long[CPU_SET_BYTES / Long.BYTES];
            set[cpu / Long.SIZE] = 1L << cpu; // Shifts are modulo 64.
            words(BUFFER).put(set);
            return (int) SCHED_SETAFFINITY.invoke(0, (long) CPU_SET_BYTES, BUFFER) == 0;
        } catch (Throwable error) {
            return false;
        }
    }

    /** Voluntary and involuntary switches of the whole process, threads that have ended included; null where it cannot be told. */
    static synchronized Switches switchesOfProcess() {
        if (GETRUSAGE == null || BUFFER == null) {
            return null;
        }
        try {
            if ((int) GETRUSAGE.invoke(0, BUFFER) != 0) {
                return null;
            }
            LongBuffer usage = words(BUFFER);
            return new Switches(usage.get(VOLUNTARY), usage.get(VOLUNTARY + 1));
        } catch (Throwable error) {
            return null;
        }
    }

    /**
     * Gives zeroed memory outside the heap, which begins with a page, small pages. Java has written to it already, maybe with
     * huge ones; they are given back first. Where this cannot be asked for, or there are no huge pages, it stays as it is.
     */
    static void useSmallPages(ByteBuffer memory) {
        if (MADVISE == null) {
            return;
        }
        try {
            Object segment = Class.forName(PACKAGE + "MemorySegment")
                .getMethod("ofBuffer", Buffer.class)
                .invoke(null, memory);
            long whole = memory.capacity() & -4096L; // What lies behind the last page's end may be somebody else's.
            if ((int) MADVISE.invoke(segment, whole, NO_HUGE_PAGES) == 0) {
                MADVISE.invoke(segment, whole, DO_NOT_NEED);
            }
        } catch (Throwable error) {
            // As where there is no madvise.
        }
    }

    private static LongBuffer words(Object segment) throws ReflectiveOperationException {
        ByteBuffer bytes = (ByteBuffer) Class.forName(PACKAGE + "MemorySegment")
            .getMethod("asByteBuffer")
            .invoke(segment);
        return bytes.order(ByteOrder.nativeOrder()).asLongBuffer();
    }

    private static Object buffer(long size) {
        try {
            Class<?> arena = Class.forName(PACKAGE + "Arena");
            return arena
                .getMethod("allocate", long.class, long.class)
                .invoke(arena.getMethod("global").invoke(null), size, 8L);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError error) {
            return null;
        }
    }

    /** A function of the C library that returns int; null where there is no such function or no way to call it. */
    private static MethodHandle link(String name, String... argumentLayouts) {
        if (Runtime.version().feature() < 22 || !System.getProperty("os.name").equals("Linux")) {
            return null;
        }
        try {
            Class<?> linkerClass = Class.forName(PACKAGE + "Linker");
            Class<?> layouts = Class.forName(PACKAGE + "ValueLayout");
            Class<?> layoutClass = Class.forName(PACKAGE + "MemoryLayout");
            Class<?> optionClass = Class.forName(PACKAGE + "Linker$Option");
            Class<?> descriptorClass = Class.forName(PACKAGE + "FunctionDescriptor");
            Object linker = linkerClass.getMethod("nativeLinker").invoke(null);
            Object lookup = linkerClass.getMethod("defaultLookup").invoke(linker);
            Optional<?> address = (Optional<?>) Class.forName(PACKAGE + "SymbolLookup")
                .getMethod("find", String.class)
                .invoke(lookup, name);
            if (address.isEmpty()) {
                return null;
            }
            Object arguments = Array.newInstance(layoutClass, argumentLayouts.length);
            for (int i = 0; i < argumentLayouts.length; i++) {
                Array.set(arguments, i, layouts.getField(argumentLayouts[i]).get(null));
            }
            Object descriptor = descriptorClass
                .getMethod("of", layoutClass, arguments.getClass())
                .invoke(null, layouts.getField("JAVA_INT").get(null), arguments);
            Object options = Array.newInstance(optionClass, 0);
            Method downcall = linkerClass.getMethod(
                "downcallHandle",
                Class.forName(PACKAGE + "MemorySegment"),
                descriptorClass,
                options.getClass()
            );
            return (MethodHandle) downcall.invoke(linker, address.get(), descriptor, options);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError error) {
            return null;
        }
    }
}
