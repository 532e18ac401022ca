package kit

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// getcpuNumber is the number of the system call getcpu; package syscall does not have it on every architecture.
func getcpuNumber() uintptr {
	switch runtime.GOARCH {
	case "amd64":
		return 309
	case "arm64", "riscv64", "loong64":
		return 168
	case "ppc64", "ppc64le":
		return 302
	case "s390x":
		return 311
	}
	return 0
}

// CurrentCPU is the CPU of the calling thread, -1 where it cannot be told. A raw system call: the runtime must not take
// it for a blocking one and hand the goroutine's processor to another thread.
func CurrentCPU() int {
	number := getcpuNumber()
	if number == 0 {
		return -1
	}
	var cpu uint32
	if _, _, errno := syscall.RawSyscall(number, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}

// currentThread is the kernel's number of the calling thread.
func currentThread() int32 {
	thread, _, _ := syscall.RawSyscall(syscall.SYS_GETTID, 0, 0, 0)
	return int32(thread)
}

// allowedCPUs is the set of CPUs the process may run on; nil where it cannot be told.
func allowedCPUs() []int {
	var mask [1024]uint64
	size, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	if errno != 0 {
		return nil
	}
	cpus := []int{}
	for cpu := 0; cpu < int(size)*8; cpu++ {
		if mask[cpu/64]>>(uint(cpu)%64)&1 == 1 {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// AvailableMemory is what the kernel believes it can give to this process, in bytes, at most the limit of its control
// group; 0 where it cannot be told.
func AvailableMemory() uint64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	available, _ := field(string(text), "MemAvailable:")
	available <<= 10
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for _, line := range strings.Split(string(groups), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) < 3 || parts[1] != "" && parts[1] != "memory" {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if parts[1] == "memory" {
			root, file = root+"/memory", "memory.limit_in_bytes"
		}
		available = min(available, leastLimit(root, parts[2], file))
	}
	return available
}

// leastLimit is the least number in files of this name of a control group and of those above it, up to the root, where a
// container has its own; the highest number where none of them limits.
func leastLimit(root, group, file string) uint64 {
	least := uint64(math.MaxUint64)
	for group = strings.TrimSuffix(group, "/"); ; group = group[:strings.LastIndex(group, "/")] {
		text, err := os.ReadFile(root + group + "/" + file)
		if limit, bad := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil {
			least = min(least, limit)
		}
		if !strings.Contains(group, "/") {
			return least
		}
	}
}

// mapMemory maps fresh small pages: a transparent huge page would make the behaviour of the TLB a matter of luck.
func mapMemory(bytes int) ([]byte, error) {
	memory, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err == nil {
		const noHugePages = 15
		_ = syscall.Madvise(memory, noHugePages) // Without support for huge pages there is nothing to refuse.
	}
	return memory, err
}

// readMemory: resident from smaps_rollup, a walk of the page tables (statm is only approximate); nil where it cannot be read.
func readMemory() *Memory {
	rollup, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return nil
	}
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	resident, known := field(string(rollup), "\nRss:")
	mapped, also := field(string(text), "\nVmSize:")
	tables, all := field(string(text), "\nVmPTE:")
	if !known || !also || !all {
		return nil
	}
	return &Memory{int64(resident) << 10, int64(mapped) << 10, int64(tables) << 10}
}

// readTasks reads the kernel's switch counts of every thread of the process; nil where they cannot be read.
func readTasks() map[string]taskSwitches {
	folder, err := os.Open("/proc/self/task")
	if err != nil {
		return nil
	}
	defer folder.Close()
	ids, err := folder.Readdirnames(-1)
	if err != nil {
		return nil
	}
	tasks := map[string]taskSwitches{}
	for _, id := range ids {
		text, err := os.ReadFile("/proc/self/task/" + id + "/status")
		if err != nil {
			continue // The thread has ended since the folder was read.
		}
		voluntary, known := field(string(text), "\nvoluntary_ctxt_switches:")
		involuntary, also := field(string(text), "nonvoluntary_ctxt_switches:")
		if !known || !also {
			return nil
		}
		tasks[id] = taskSwitches{voluntary, involuntary}
	}
	return tasks
}

// field is the first number after a name in a text like /proc/*/status, if there is one.
func field(text, name string) (uint64, bool) {
	_, rest, _ := strings.Cut(text, name)
	words := strings.Fields(rest)
	if len(words) == 0 {
		return 0, false
	}
	value, err := strconv.ParseUint(words[0], 10, 64)
	return value, err == nil
}

// usage is the page faults of the process, nil where they cannot be read, and the CPU time of its threads.
func usage() (*pageFaultsField, int64) {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return nil, 0
	}
	return &pageFaultsField{Minor: int64(usage.Minflt), Major: int64(usage.Majflt)}, usage.Utime.Nano() + usage.Stime.Nano()
}
