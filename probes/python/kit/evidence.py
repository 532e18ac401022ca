"""What shows that the units claimed did happen."""

import gc
import time
from collections import namedtuple

from . import machine

# What can be read from outside the contexts. CPU time is read last before the batches and first after them: to read the threads
# takes longer than short batches.
Observed = namedtuple("Observed", "tasks faults collections cpu_ns")


def observe_begin():
    """Before the first batch."""
    collections, faults, tasks = _collections(), machine.page_faults(), machine.task_switches()
    return Observed(tasks, faults, collections, time.process_time_ns())


def observe_end():
    """After the last batch."""
    cpu_ns = time.process_time_ns()
    return Observed(machine.task_switches(), machine.page_faults(), _collections(), cpu_ns)


def _collections():
    return sum(generation["collections"] for generation in gc.get_stats())


def between(begin, end):
    """The fields of the evidence message that are differences of two observations."""
    fields = {"kernel": None, "page_faults": None, "gc_cycles": end.collections - begin.collections}
    fields["counts"] = {"cpu_time_ns": end.cpu_ns - begin.cpu_ns}
    why = {}
    if begin.tasks is None or end.tasks is None:
        why["kernel"] = "the kernel's counts of each thread cannot be read on this system"
    elif not begin.tasks.keys() <= end.tasks.keys():
        why["kernel"] = "a thread ended during the batches and took its counts with it"
    else:
        # A thread that began in between counts from zero.
        voluntary, involuntary = (
            sum(counts[i] - begin.tasks.get(task, (0, 0))[i] for task, counts in end.tasks.items()) for i in (0, 1)
        )
        fields["kernel"] = {
            "voluntary": voluntary,
            "involuntary": involuntary,
            "tasks": len(end.tasks),
            "source": "proc_task_status",
        }
    if begin.faults is None or end.faults is None:
        why["page_faults"] = "not readable on this system"
    else:
        minor, major = (after - before for before, after in zip(begin.faults, end.faults))
        fields["page_faults"] = {"minor": minor, "major": major}
    return fields, why


def address_spaces(contexts):
    """One, where contexts have counted their turns into this process's own memory: nothing of another address space can
    reach it."""
    return 1 if contexts else None


class Turns:
    """What the contexts counted themselves."""

    def __init__(self):
        self.total = self.min = self.max = self.contexts = 0

    def count(self, turns):
        """Adds one context's turns."""
        self.min = turns if self.contexts == 0 else min(self.min, turns)
        self.max = max(self.max, turns)
        self.total += turns
        self.contexts += 1

    @classmethod
    def once_each(cls, created):
        """Of contexts that are entered once and end."""
        turns = cls()
        turns.total = turns.contexts = created
        turns.min = turns.max = 1
        return turns


class Trace:
    """The record of the verification pass: who had the token, on which CPU and thread, indexed by the token's sequence number."""

    def __init__(self, units):
        self.who, self.cpu, self.thread = ([-1] * (units + 1) for _ in range(3))
        self.current_cpu, self.current_thread = machine.cpu_reader(), machine.thread_reader()

    def visit(self, sequence, context):
        """Called by a context that came to run with the token."""
        if 0 <= sequence < len(self.who):
            self.who[sequence], self.cpu[sequence], self.thread[sequence] = (
                context,
                self.current_cpu(),
                self.current_thread(),
            )

    def judge(self, contexts):
        """Compares every hop with the one before it: (hops, migrations)."""
        # The pass comes after the timed batches, by the same contexts.
        hops = {"count": len(self.who) - 1, "in_order": 0, "same_cpu": 0, "same_thread": 0, "timed": False}
        migrations, last = 0, {}
        for i, (who, cpu) in enumerate(zip(self.who, self.cpu)):
            migrations += last.get(who, cpu) != cpu
            last[who] = cpu
            if i:
                hops["in_order"] += who == (self.who[i - 1] + 1) % contexts
                hops["same_cpu"] += cpu == self.cpu[i - 1]
                hops["same_thread"] += self.thread[i] == self.thread[i - 1]
        if -1 in self.thread:
            del hops["same_thread"]
        return hops, migrations
