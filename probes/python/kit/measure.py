"""Carries out a plan and reports everything but `hello`."""

import gc
import os

from . import evidence, hello, machine, wire
from .clock import now
from .histogram import Histogram
from .plan import MAX_UNITS
from .ruler import Ruler


class Mechanism:
    """One line of `describe`."""

    def __init__(
        self,
        id,
        offers,
        parameters=(),
        package=None,
        runner=None,
        control=False,
        pins=False,
    ):
        # Of kit.experiments.
        self.offers = dict(offers)
        self.id, self.experiments, self.parameters = id, list(self.offers), parameters
        # Without contexts: one is enough.
        self.control = control
        # Its contexts are threads, each put on a CPU of its own where the plan names several.
        self.pins = pins
        self.timings = ["batch", "each"]
        # A Package of kit.packages without which it cannot run, or None.
        self.package = package
        # What runs a coroutine: an event loop, for mechanisms that need one; without one by default.
        self.runner = runner or _without_a_loop


class Workload:
    """A mechanism that is ready to run. Context 0 runs where `run` is called."""

    # The smallest number of units after which everything stands where it began.
    lap = 1

    async def run(self, units):
        """The measured region: units switches, no clock and no branch on the plan. A coroutine, so that mechanisms with
        an event loop and those without are measured by the same code; awaiting it does not suspend by itself."""
        raise NotImplementedError

    def took(self, elapsed):
        """Of the ns that the last `run` took, what its units are said to have taken."""
        return elapsed

    async def run_each(self, units, histogram):
        """Does the same and records every unit."""
        raise NotImplementedError

    async def reset(self):
        """Sets the count of turns to zero."""
        raise NotImplementedError

    async def claim(self):
        """(turns, token, broken) since reset; broken is true when a context saw a token that it was not due."""
        raise NotImplementedError

    def counts(self):
        """What was counted beside the turns, after `claim`: name -> integer."""
        return {}

    async def verify(self, units, trace):
        """Passes the token units times and records each visit; False where the experiment has no ring."""
        return False


def carry_out(writer, plan, mechanism):
    """Returns only after `end` with status ok."""
    _check_placement(plan, mechanism.pins)
    wrong = hello.wrong_runtime()
    if wrong:
        raise wire.unsupported("unsupported_here", wrong)
    if mechanism.package:
        writer.send("note", text=mechanism.package.load())
    mechanism.runner(mechanism.offers[plan.experiment](writer, plan))


def check_memory(contexts, bytes_each, what):
    """Raises the answer to a ring for which there is no room."""
    available = machine.available_memory()
    if available and contexts * bytes_each > available:
        raise wire.unsupported(
            "limit_reached",
            f"{contexts} {what} need about {contexts * bytes_each >> 20} MB and {available >> 20} MB are available; ask for fewer contexts",
        )


def pin(plan, context):
    """Puts the calling thread where the plan wants that context. One CPU is the host's duty."""
    if len(plan.cpus) > 1:
        os.sched_setaffinity(0, [plan.cpus[context % len(plan.cpus)]])


def _check_placement(plan, pins):
    """Contexts of one thread cannot be pinned one by one, and pinning the process is the host's duty; a plan that says one
    CPU while the process may run on others would be believed."""
    if len(plan.cpus) > 1 and not pins:
        raise wire.refuse(
            "bad_value", "contexts of one thread cannot be pinned one by one; give one CPU or none in `cpus`"
        )
    allowed = machine.allowed_cpus()
    if len(plan.cpus) > 1:
        if allowed is None:
            raise wire.unsupported("unsupported_here", "this system does not let Python pin threads")
        if not set(plan.cpus) <= set(allowed):
            raise wire.failed("set_up_failed", f"the plan says CPUs {plan.cpus}, and the process may run on {allowed}")
        return
    if plan.cpus and allowed is not None and allowed != plan.cpus:
        cpu = plan.cpus[0]
        raise wire.failed(
            "set_up_failed",
            f"the plan says CPU {cpu}, but the process is not restricted to it; start it with taskset -c {cpu}",
        )


def _without_a_loop(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise wire.failed("self_check_failed", "a workload without an event loop suspended")


class Measurement:
    """Times a workload in batches."""

    def __init__(self, plan):
        self.plan = plan
        self.current_cpu = machine.cpu_reader()

    async def carry_out(self, writer, set_up, blocks):
        """`set_up` makes the workload, behind what `blocks` takes."""
        plan = self.plan
        # The collector is on during the batches, as in any program; set-up would make it scan a growing ring again and
        # again, and what set-up leaves behind is collected before.
        gc.disable()
        self.blocks = blocks(plan)
        self.workload = set_up(plan)
        gc.enable()
        gc.collect()
        self.units = await self._calibrate()
        plan.send(writer, self.units)
        self._allocate()
        await self.workload.reset()
        begin = evidence.observe_begin()
        await self._batches()
        end = evidence.observe_end()
        turns, token, broken = await self.workload.claim()
        if broken:
            raise wire.failed("self_check_failed", "a context received another token than the one it was due")
        samples = self._report(writer)
        await self._send_evidence(writer, begin, end, turns, token)
        wire.send_end(writer, samples)

    async def _batch(self, units, histogram):
        begin = now()
        if histogram is None:
            await self.workload.run(units)
        else:
            await self.workload.run_each(units, histogram)
        return self.workload.took(now() - begin)

    async def _calibrate(self):
        """Rounds what was asked up to whole laps, or doubles by the rule of PROTOCOL.md, section 1."""
        lap = self.workload.lap
        histogram = Histogram() if self.plan.timing == "each" else None
        if self.plan.batch_units:
            return -(-self.plan.batch_units // lap) * lap
        units, long_enough = lap, 0
        while long_enough < 3:
            if await self._batch(units, histogram) >= self.plan.batch_ns:
                long_enough += 1
                continue
            units, long_enough = 2 * units, 0
            if units > MAX_UNITS:
                raise wire.unsupported(
                    "limit_reached",
                    f"{units // 2} units last less than batch_ns={self.plan.batch_ns}; ask for a smaller batch_ns",
                )
        return units

    def _allocate(self):
        each = self.plan.timing == "each"
        self.warmup, self.measure = (Histogram() if each else None for _ in range(2))
        self.ticks = [-1] * (self.plan.warmup_batches + self.plan.batches)
        self.cpus = [-1] * (len(self.ticks) + 1)
        self.ruler = None if each else Ruler(len(self.ticks))

    async def _batches(self):
        """The silence of PROTOCOL.md: no writing, and no allocation but of the integers themselves."""
        await self._phase(0, self.plan.warmup_batches, self.warmup)
        await self._phase(self.plan.warmup_batches, len(self.ticks), self.measure)
        self._read_ruler(-1)
        self.cpus[-1] = self.current_cpu()

    async def _phase(self, begin, end, histogram):
        clock = now()
        for i in range(begin, end):
            self._read_ruler(i)
            self.cpus[i] = self.current_cpu()
            self.ticks[i] = await self._batch(self.units, histogram)
        if histogram is not None:
            # Clock and counter are the same here.
            histogram.span_clock = histogram.span_counter = now() - clock

    def _read_ruler(self, i):
        if self.ruler is not None:
            self.ruler.read(i)

    def _report(self, writer):
        if self.plan.timing == "each":
            seq = writer.send_histogram(0, "warmup", self.warmup)
            writer.send_histogram(seq, "measure", self.measure)
            return self.warmup.count + self.measure.count
        warmup, both, beside = self.plan.warmup_batches, len(self.ticks), self.ruler.beside
        seq = writer.send_samples(0, "warmup", self.units, self.ticks[:warmup], beside(0, warmup))
        writer.send_samples(seq, "measure", self.units, self.ticks[warmup:], beside(warmup, both))
        return len(self.ticks)

    async def _send_evidence(self, writer, begin, end, turns, token):
        fields, why = evidence.between(begin, end)
        seen = set(self.cpus)
        if self.plan.verify_units:
            lap = self.workload.lap
            trace = evidence.Trace(-(-self.plan.verify_units // lap) * lap)
            if await self.workload.verify(len(trace.who) - 1, trace):
                fields["hops"], fields["migrations"] = trace.judge(self.plan.contexts)
                if "same_thread" not in fields["hops"]:
                    why["hops_same_thread"] = "this Python cannot tell the kernel's number of a thread"
                seen.update(trace.cpu)
        fields["cpus"] = sorted(seen)
        if -1 in seen:
            fields.update(cpus=None, hops=None, migrations=None)
            why.update(
                dict.fromkeys(("cpus", "hops", "migrations"), "the C library of this system has no sched_getcpu")
            )
        fields["counts"].update(self.workload.counts())
        writer.send(
            "evidence",
            units=len(self.ticks) * self.units,
            turns=vars(turns),
            token=token,
            address_spaces=evidence.address_spaces(turns.contexts),
            **fields,
            why=why,
        )
