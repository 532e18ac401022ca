"""What the operating system says about this process. Nothing here is called within a batch."""

import os
import threading


def allowed_cpus():
    """The CPUs that the process may run on; None where it cannot be told."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def cpu_reader():
    """A function that gives the CPU of the calling thread, -1 where it cannot be told. The standard library has none, so
    it is the C library's, through ctypes: about 0.3 us a call, which is why recording a CPU is a pass of its own."""
    try:
        import ctypes  # Not needed by `describe`, which should be quick.

        return ctypes.CDLL(None).sched_getcpu
    except (ImportError, OSError, AttributeError):
        return lambda: -1


def thread_reader():
    """A function that gives the kernel's number of the calling thread, -1 where it cannot be told."""
    return getattr(threading, "get_native_id", lambda: -1)


def available_memory():
    """What the kernel believes it can give to this process, in bytes; 0 where it cannot be told."""
    return (_field(_read("/proc/meminfo"), "MemAvailable:") or 0) << 10


def memory():
    """(resident, mapped, page tables) of this process in bytes; None where they cannot be read. Resident is a walk of the page
    tables (smaps_rollup); statm is only approximate."""
    rollup, status = _read("/proc/self/smaps_rollup"), _read("/proc/self/status")
    kibibytes = _field(rollup, "\nRss:"), _field(status, "\nVmSize:"), _field(status, "\nVmPTE:")
    return None if None in kibibytes else tuple(number << 10 for number in kibibytes)


def task_switches():
    """Thread id -> (voluntary, involuntary) switches of every thread of the process; None where they cannot be read."""
    try:
        status = {task: _read(f"/proc/self/task/{task}/status") for task in os.listdir("/proc/self/task")}
    except OSError:
        return None
    names = "\nvoluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"
    counts = {task: tuple(_field(text, name) for name in names) for task, text in status.items()}
    return None if any(None in of_task for of_task in counts.values()) else counts


def page_faults():
    """(minor, major) page faults of the process; None where they cannot be read."""
    try:
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
    except (ImportError, OSError):
        return None
    return usage.ru_minflt, usage.ru_majflt


def _read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _field(text, name):
    """The number after a name; None where there is none, or no text."""
    _, found, rest = (text or "").partition(name)
    return int(rest.split(None, 1)[0]) if found else None
