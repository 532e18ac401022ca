"""The clock of the batches, which is also the counter of timing=each: CPython has nothing finer without a C extension."""

import time

TICKS_PER_SECOND = 1_000_000_000


def _seconds_only():
    """For Pythons before 3.7, which can say `hello` but run nothing."""
    return int(time.perf_counter() * TICKS_PER_SECOND)


now = getattr(time, "perf_counter_ns", _seconds_only)


def name():
    """What the operating system calls it."""
    return time.get_clock_info("perf_counter").implementation.replace("clock_gettime(", "").rstrip(")")


def read_cost():
    """Mean of the quickest of some short rows of readings, rounded up."""
    rows, readings = 20, 100
    quickest = None
    for _ in range(rows):
        begin = now()
        for _ in range(readings):
            end = now()
        if quickest is None or end - begin < quickest:
            quickest = end - begin
    return -(-quickest // readings)
