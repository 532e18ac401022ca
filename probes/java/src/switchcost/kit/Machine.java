package switchcost.kit;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the kernel says of this process, read from /proc; null or 0 where there is none. */
public final class Machine {

    private static final File TASKS = new File("/proc/self/task");
    private static final Pattern MAX_PROCESSES = Pattern.compile("^Max processes +(\\S+)", Pattern.MULTILINE);

    private Machine() {}

    static String text(String path) {
        // Not Files.readString: it begins with one byte, and files below /proc/sys tell no more than the first reading takes.
        try (FileInputStream file = new FileInputStream(path)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException | RuntimeException error) {
            return null;
        }
    }

    /** The rest of the line after a name in a text like /proc/self/status; null where it is not there. */
    static String field(String text, String name) {
        for (String line : text == null ? new String[0] : text.split("\n")) {
            if (line.startsWith(name + ":")) {
                return line.substring(name.length() + 1).trim();
            }
        }
        return null;
    }

    /** The number there; null where there is none. */
    static Long number(String text, String name) {
        String value = field(text, name);
        return value == null ? null : Long.valueOf(value.split("\\s+")[0]);
    }

    /** The sum of these; null where one is missing. */
    private static Long sum(String text, String... names) {
        long sum = 0;
        for (String name : names) {
            Long number = number(text, name);
            if (number == null) {
                return null;
            }
            sum += number;
        }
        return sum;
    }

    /**
     * Memory of this process; null where it cannot be read. Resident is a walk of the page tables (smaps_rollup), statm is
     * only approximate. Of threads that are tasks of the kernel, its share is told for the whole machine only.
     */
    static Footprint.Memory memory(boolean wholeMachine) {
        String status = text("/proc/self/status");
        Long resident = number(text("/proc/self/smaps_rollup"), "Rss");
        Long mapped = number(status, "VmSize");
        Long kernel = wholeMachine
            ? sum(text("/proc/meminfo"), "KernelStack", "PageTables", "SUnreclaim")
            : number(status, "VmPTE");
        if (resident == null || mapped == null || kernel == null) {
            return null;
        }
        return new Footprint.Memory(resident << 10, mapped << 10, kernel << 10);
    }

    /** CPUs that the process may run on; null where it cannot be told. */
    static Set<Integer> allowedCpus() {
        String list = field(text("/proc/self/status"), "Cpus_allowed_list");
        return list == null || list.isEmpty() ? null : cpuList(list);
    }

    static Set<Integer> cpuList(String list) {
        Set<Integer> cpus = new TreeSet<>();
        for (String part : list.split(",")) {
            String[] ends = part.split("-");
            for (int cpu = Integer.parseInt(ends[0]); cpu <= Integer.parseInt(ends[ends.length - 1]); cpu++) {
                cpus.add(cpu);
            }
        }
        return cpus;
    }

    /** Switch counts of every thread of the process; null where the kernel does not tell them. */
    static Map<String, Switches> taskSwitches() {
        String[] ids = TASKS.list();
        if (ids == null) {
            return null;
        }
        Map<String, Switches> counts = new HashMap<>();
        for (String id : ids) {
            String status = text(TASKS + "/" + id + "/status");
            if (status == null) {
                continue; // The thread has ended since the folder was read.
            }
            Long voluntary = number(status, "voluntary_ctxt_switches");
            Long involuntary = number(status, "nonvoluntary_ctxt_switches");
            if (voluntary == null || involuntary == null) {
                return null;
            }
            counts.put(id, new Switches(voluntary, involuntary));
        }
        return counts;
    }

    /** CPUs on which the threads of this process ran last: field 39 of their `stat`. */
    static Set<Integer> lastCpus() {
        Set<Integer> cpus = new TreeSet<>();
        String[] ids = TASKS.list();
        for (String id : ids == null ? new String[0] : ids) {
            String[] words = statFields(text(TASKS + "/" + id + "/stat"));
            if (words != null) {
                cpus.add(Integer.parseInt(words[39 - 3]));
            }
        }
        return cpus;
    }

    /** Minor and major page faults of the process. */
    static long[] pageFaults() {
        String[] words = statFields(text("/proc/self/stat"));
        return words == null ? null : new long[] { Long.parseLong(words[10 - 3]), Long.parseLong(words[12 - 3]) };
    }

    /** Fields 3 and on: the name, field 2, may hold anything, but ends with the last bracket. */
    private static String[] statFields(String stat) {
        int bracket = stat == null ? -1 : stat.lastIndexOf(')');
        return bracket < 0 ? null : stat.substring(bracket + 2).split(" ");
    }

    /** What bounds the number of threads here, for the sentence that says that the bound was met. */
    public static String threadLimits() {
        List<String> limits = new ArrayList<>();
        Matcher processes = MAX_PROCESSES.matcher(String.valueOf(text("/proc/self/limits")));
        if (processes.find()) {
            limits.add("ulimit -u " + processes.group(1));
        }
        for (String name : List.of("kernel/threads-max", "kernel/pid_max", "vm/max_map_count")) {
            String value = text("/proc/sys/" + name);
            if (value != null) {
                limits.add(name.replace('/', '.') + " " + value.trim());
            }
        }
        groups("pids")
            .stream()
            .map(group -> limit(group, "pids.max"))
            .filter(Objects::nonNull)
            .min(Long::compare)
            .ifPresent(most -> limits.add("pids.max of the cgroup " + most));
        return String.join(", ", limits);
    }

    /** Bytes that can still be had, by the kernel's estimate and the limit of the process's control group; 0 where nobody tells. */
    static long availableMemory() {
        Long kibibytes = number(text("/proc/meminfo"), "MemAvailable");
        long available = kibibytes == null ? 0 : kibibytes << 10;
        for (String group : groups("memory")) {
            for (String[] files : new String[][] {
                { "memory.max", "memory.current" },
                { "memory.limit_in_bytes", "memory.usage_in_bytes" },
            }) {
                Long limit = limit(group, files[0]);
                Long used = limit(group, files[1]);
                if (limit != null && used != null) {
                    available = Math.min(available, Math.max(0, limit - used));
                }
            }
        }
        return available;
    }

    /** A number in a file of a control group; null where there is none: "max", or so large that it is none. */
    private static Long limit(String group, String file) {
        String value = String.valueOf(text(group + "/" + file)).trim();
        return value.matches("\\d{1,18}") ? Long.valueOf(value) : null;
    }

    /** Folders of the control group that the process is in, and of those above it, version 2 or a hierarchy of version 1. Inside a container only the last is there. */
    private static List<String> groups(String controller) {
        List<String> found = new ArrayList<>();
        for (String line : String.valueOf(text("/proc/self/cgroup")).split("\n")) {
            String[] parts = line.split(":", 3);
            if (parts.length == 3 && (parts[1].isEmpty() || List.of(parts[1].split(",")).contains(controller))) {
                String root = "/sys/fs/cgroup/" + (parts[1].isEmpty() ? "" : controller);
                for (String path = parts[2]; !path.isEmpty(); path = path.substring(0, path.lastIndexOf('/'))) {
                    found.add(root + path);
                }
                found.add(root);
            }
        }
        return found;
    }
}
