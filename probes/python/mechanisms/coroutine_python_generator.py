"""coroutine/python-generator: a driver resumes generators in turn, each with the token that the one before it yielded.

The driver is not a context: a switch is the yield of one generator, the driver's loop, and the resumption of the next.

A switch costs CPython few instructions here and between greenlets, so that a token counted up at every switch, checked, and
a turn counter beside it would double it. Therefore the token is the number of the lap: context 0 counts it up, every other
context compares it with its own count of laps and hands it on as it is. That count is the variable of a `for` over a range,
which is cheaper than the two additions, and it is the count of turns as well. After a command a context counts from zero again.
"""

from kit import heap_offset
from kit.clock import now
from kit.experiments import creation, population, ring
from kit.measure import Mechanism, check_memory
from kit.resumed import ResumedRing
from kit.ring import FOREVER, Creation

from . import depth

# A generator with its frame, its `send` and its places in the lists (430 bytes observed).
BYTES_EACH = 500

# The driver goes through a list of at least this many resumptions, so that a short ring does not pay for the beginning of a lap.
BLOCK = 1024


def set_up(plan):
    """Gives the workload of the plan."""
    calls = depth.depth_of(plan)
    check_memory(plan.contexts, BYTES_EACH * (1 + calls), "generators")
    if calls:
        return _DeepRing(plan.contexts, calls, plan.parameters["frames"] == "unwound")
    return _Ring(plan.contexts, plan.timing == "each")


def first(ring, index):
    """Context 0, which counts the laps."""
    token = yield
    while True:
        before = 0
        for lap in range(1, FOREVER):
            if token != before:
                break
            before = lap
            token = yield lap
        token = yield ring.obey(index, lap - 1, token)


def member(ring, index):
    """Every other context."""
    token = yield
    while True:
        for lap in range(1, FOREVER):
            if token != lap:
                break
            token = yield token
        token = yield ring.obey(index, lap - 1, token)


def each(ring, index):
    """Any context of timing=each."""
    ahead = 1 if index == 0 else 0
    token = yield
    while True:
        for lap in range(1, FOREVER):
            arrived = now()
            if token != lap - ahead:
                break
            ring.histogram.arrive(arrived - ring.stamp)
            ring.stamp = now()
            token = yield lap
        token = yield ring.obey(index, lap - 1, token)


def unwinding_first(ring, index):
    """Context 0, whose yields lie below calls. Written out like the two above: what chose between them would be timed."""
    entered, calls = ring.calls.entered[index], ring.calls.depth
    token = yield
    while True:
        before = 0
        for lap in range(1, FOREVER):
            if token != before:
                break
            before = lap
            token = yield from depth.yield_below(entered, calls, lap)
        token = yield ring.obey(index, lap - 1, token)


def unwinding_member(ring, index):
    """Every other context, likewise."""
    entered, calls = ring.calls.entered[index], ring.calls.depth
    token = yield
    while True:
        for lap in range(1, FOREVER):
            if token != lap:
                break
            token = yield from depth.yield_below(entered, calls, token)
        token = yield ring.obey(index, lap - 1, token)


class _Ring(ResumedRing):
    def __init__(self, contexts, timed_each):
        super().__init__(contexts)
        bodies = (each, each) if timed_each else (first, member)
        self.begin([bodies[i > 0](self, i) for i in range(contexts)])

    def begin(self, generators):
        """Takes these as the contexts."""
        contexts = len(generators)
        for generator in generators:
            next(generator)
        self.resumptions = [generator.send for generator in generators]
        self.block_laps = max(1, BLOCK // contexts)
        self.block = self.resumptions * self.block_laps

    async def run(self, units):
        laps = units // self.lap
        block, token = self.block, self.laps
        rest = self.resumptions * (laps % self.block_laps)
        for _ in range(laps // self.block_laps):
            for send in block:
                token = send(token)
        for send in rest:
            token = send(token)
        self.laps += laps
        self.broken |= token != self.laps

    async def run_each(self, units, histogram):
        self.histogram = histogram
        # The first interval of a batch begins here and not in a generator.
        self.stamp = now()
        await self.run(units)


class _DeepRing(_Ring):
    """Its contexts delegate to others."""

    def __init__(self, contexts, calls, unwound):
        ResumedRing.__init__(self, contexts)
        self.calls = depth.Calls(calls, unwound, contexts)
        bodies = (unwinding_first, unwinding_member) if unwound else (first, member)
        generators = [bodies[i > 0](self, i) for i in range(contexts)]
        if not unwound:
            generators = [depth.held_generator(calls, body) for body in generators]
        self.calls.chains = generators
        self.begin(generators)

    async def reset(self):
        await super().reset()
        self.calls.reset()

    def counts(self):
        return {**super().counts(), **self.calls.counts(self.laps * self.lap)}


class _Creation(Creation):
    """Make a generator, enter it once, let it return, drop it."""

    def body(self):
        self.entered += 1
        return
        yield  # Makes it a generator.

    async def run(self, units):
        body = self.body
        for _ in range(units):
            next(body(), None)

    async def run_each(self, units, histogram):
        body = self.body
        for _ in range(units):
            begin = now()
            next(body(), None)
            histogram.arrive(now() - begin)


async def hold(plan, contexts):
    """Generators at their first yield."""
    check_memory(contexts, BYTES_EACH, "generators")
    ran = 0

    def body():
        nonlocal ran
        ran += 1
        yield

    generators = [body() for _ in range(contexts)]
    for generator in generators:
        next(generator)
    return generators, ran


MECHANISM = Mechanism(
    "coroutine/python-generator",
    [ring(set_up), creation(_Creation), population(hold)],
    parameters=[*depth.PARAMETERS, heap_offset.PARAMETER],
)
