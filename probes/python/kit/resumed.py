"""Contexts that a driver resumes in turn, each with the token that the one
before it handed on: for mechanisms of few lines, and what `switchcost new-probe --language python` starts from.

The driver is not a context: a switch is one suspension and one resumption. The token is the number of the lap, which the driver
counts up; mechanisms/coroutine_python_generator.py of switchcost's own probe says why."""

from . import heap_offset
from .clock import now
from .experiments import creation, population, ring
from .main import main
from .measure import Mechanism
from .ring import RESET, VERIFY, Creation, Ring


class ResumedRing(Ring):
    """A ring of what `resumptions` resumes, in the order of their turns."""

    driver_is_context = False
    resumptions = ()

    async def round(self, token):
        for resume in self.resumptions:
            token = resume(token)
        return token

    async def verify(self, units, trace):
        self.trace = trace
        # Context 0 visits with number 1 as its second visit: the token has just come from the last context.
        trace.visit(0, self.lap - 1)
        token = VERIFY - 1
        for _ in range(units // self.lap):
            token = await self.round(token)
        return True


class _Ring(ResumedRing):
    def __init__(self, contexts, make):
        super().__init__(contexts)
        self.resumptions = [make(self, i) for i in range(contexts)]

    async def run(self, units):
        resumptions, begin = self.resumptions, self.laps + 1
        self.laps += units // self.lap
        for lap in range(begin, self.laps + 1):
            token = lap
            for resume in resumptions:
                token = resume(token)
            if token != lap:
                self.broken = True

    async def run_each(self, units, histogram):
        resumptions, begin = self.resumptions, self.laps + 1
        self.laps += units // self.lap
        for lap in range(begin, self.laps + 1):
            token = lap
            for resume in resumptions:
                sent = now()
                token = resume(token)
                histogram.arrive(now() - sent)
            if token != lap:
                self.broken = True


class _Creation(Creation):
    def __init__(self, make_and_end):
        self.make_and_end = make_and_end

    async def run(self, units):
        make_and_end = self.make_and_end
        for _ in range(units):
            make_and_end(self)

    async def run_each(self, units, histogram):
        make_and_end = self.make_and_end
        for _ in range(units):
            begin = now()
            make_and_end(self)
            histogram.arrive(now() - begin)


class _Asleep(Ring):
    """What contexts that are held take for their ring: it counts those that ran."""

    ran = 0

    def obey(self, index, turns, token, frame=None):
        self.ran += 1
        return token


def mechanism(id, make, make_and_end):
    """A mechanism of two functions.

    make(ring, index) makes a context, suspended, and gives what resumes it: called with a token, it gives the token that the
    context hands on. The context takes `for lap in ring.lap_numbers()` the token `lap` and hands it on; any other it hands on
    as `ring.obey(index, lap - 1, token)`, and begins with the laps anew.
    make_and_end(counter) makes a context that adds one to `counter.entered` and ends."""

    async def hold(_, contexts):
        asleep = _Asleep(contexts)
        resumptions = [make(asleep, i) for i in range(contexts)]
        for resume in resumptions:
            resume(RESET)
        return resumptions, asleep.ran

    rings = ring(lambda plan: _Ring(plan.contexts, make))
    return Mechanism(id, [rings, creation(lambda: _Creation(make_and_end)), population(hold)], [heap_offset.PARAMETER])


def own_probe(name, id, make, make_and_end):
    """The whole of a probe with one mechanism; does not return."""
    main(name, "1", [mechanism(id, make, make_and_end)])
