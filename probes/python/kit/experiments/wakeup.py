"""Experiment wakeup: a task waits for times that are fixed beforehand, one a period, and says of each how much later it ran."""

import gc

from .. import clock, evidence, machine, wire
from ..histogram import Histogram
from ..plan import Parameter

# µs between two intended times.
PERIOD = Parameter("period", None)


class Waiter:
    """The times do not move when it was late: what one wake-up found due is counted from its own time, each."""

    def __init__(self, sleep, period, now=clock.now):
        # A coroutine function that suspends for so many ns.
        self.sleep = sleep
        self.period, self.now = period, now
        # When it was read last that a time had come; at first one period before the first.
        self.last = now()
        self.first = self.last + period
        # Times so far; the number of the next one.
        self.served = 0
        self.of_this_wake = 0
        # Wake-ups that found more than one time due.
        self.several = 0

    async def serve(self, units, histogram):
        """So many more times."""
        end = self.served + units
        while self.served != end:
            now = self.now()
            late = now - (self.first + self.served * self.period)
            if late >= 0:
                histogram.record(late)
                self.last = now
                self.served += 1
                self.of_this_wake += 1
                continue
            self.several += self.of_this_wake > 1
            self.of_this_wake = 0
            await self.sleep(-late)


async def carry_out(writer, plan, sleep):
    """Reports everything but `hello`."""
    period = int(plan.parameters[PERIOD.name]) * 1000
    units = plan.batch_units or max(1, -(-plan.batch_ns // period))
    phases = (("warmup", plan.warmup_batches, Histogram()), ("measure", plan.batches, Histogram()))
    cpus, current_cpu = set(), machine.cpu_reader()
    gc.collect()
    begin = evidence.observe_begin()
    # The times are fixed before hogs are let loose, which keep this task from the CPU as well.
    waiter = Waiter(sleep, period)
    plan.send(writer, units)
    for _, batches, histogram in phases:
        start = waiter.last
        for _ in range(batches):
            await waiter.serve(units, histogram)
            cpus.add(current_cpu())
        histogram.span_clock = waiter.last - start
    end = evidence.observe_end()
    seq = 0
    for phase, _, histogram in phases:
        seq = writer.send_histogram(seq, phase, histogram)
    _send_evidence(writer, evidence.between(begin, end), waiter, cpus)
    wire.send_end(writer, sum(histogram.count for _, _, histogram in phases))


def _send_evidence(writer, observed, waiter, cpus):
    fields, why = observed
    fields["counts"]["wakes_for_several"] = waiter.several
    fields["cpus"] = sorted(cpus)
    if -1 in cpus:
        fields["cpus"], why["cpus"] = None, "the C library of this system has no sched_getcpu"
    turns = evidence.Turns()
    turns.count(waiter.served)
    writer.send(
        "evidence",
        units=waiter.served,
        turns=vars(turns),
        token=waiter.served,
        address_spaces=evidence.address_spaces(turns.contexts),
        **fields,
        why=why,
    )
