"""stack/greenlet: greenlets pass a token round by `switch`. The main greenlet is context 0.

The token is the number of the lap, as coroutine_python_generator.py says.
"""

from kit import heap_offset
from kit.clock import now
from kit.experiments import creation, population, ring
from kit.measure import Mechanism, check_memory
from kit.packages import Package
from kit.ring import FOREVER, Creation, Ring

# A greenlet, its frames and the copy of its piece of the C stack (observed with CPython 3.11).
BYTES_EACH = 6700


def set_up(plan):
    """Gives the workload of the plan."""
    check_memory(plan.contexts, BYTES_EACH, "greenlets")
    return _Ring(plan.contexts, plan.timing == "each")


class _Ring(Ring):
    def __init__(self, contexts, timed_each):
        super().__init__(contexts)
        from greenlet import getcurrent, greenlet

        body = self.each if timed_each else self.member
        self.members = [getcurrent()]
        for i in range(1, contexts):
            self.members.append(greenlet(body))
            self.members[i].switch(i)

    # The first switch to a greenlet only tells it which one it is; it answers to its creator, the main greenlet.

    def member(self, index):
        token = self.members[0].switch()
        switch = self.members[(index + 1) % self.lap].switch
        while True:
            for lap in range(1, FOREVER):
                if token != lap:
                    break
                token = switch(token)
            token = switch(self.obey(index, lap - 1, token))

    def each(self, index):
        token = self.members[0].switch()
        switch = self.members[(index + 1) % self.lap].switch
        while True:
            for lap in range(1, FOREVER):
                arrived = now()
                if token != lap:
                    break
                self.histogram.arrive(arrived - self.stamp)
                self.stamp = now()
                token = switch(token)
            token = switch(self.obey(index, lap - 1, token))

    async def round(self, token):
        return self.members[1].switch(token)

    async def run(self, units):
        switch = self.members[1].switch
        begin, end = self.laps + 1, self.laps + units // self.lap
        for lap in range(begin, end + 1):
            if switch(lap) != lap:
                self.broken = True
        self.laps = end

    async def run_each(self, units, histogram):
        self.histogram = histogram
        switch = self.members[1].switch
        begin, end = self.laps + 1, self.laps + units // self.lap
        for lap in range(begin, end + 1):
            self.stamp = now()
            token = switch(lap)
            arrived = now()
            histogram.arrive(arrived - self.stamp)
            if token != lap:
                self.broken = True
        self.laps = end


class _Creation(Creation):
    """Make a greenlet, enter it once, let it return to its creator, drop it."""

    def __init__(self):
        from greenlet import greenlet

        self.greenlet = greenlet
        self.token = 0

    def body(self, token):
        self.entered += 1
        return token + 1

    async def run(self, units):
        greenlet, body, token = self.greenlet, self.body, self.token
        for _ in range(units):
            token = greenlet(body).switch(token)
        self.token = token

    async def run_each(self, units, histogram):
        greenlet, body, token = self.greenlet, self.body, self.token
        for _ in range(units):
            begin = now()
            token = greenlet(body).switch(token)
            histogram.arrive(now() - begin)
        self.token = token


async def hold(plan, contexts):
    """Greenlets that have switched back to the main one."""
    from greenlet import getcurrent, greenlet

    check_memory(contexts, BYTES_EACH, "greenlets")
    main, ran = getcurrent(), 0

    def body():
        nonlocal ran
        ran += 1
        main.switch()

    greenlets = [greenlet(body) for _ in range(contexts)]
    for each in greenlets:
        each.switch()
    return greenlets, ran


MECHANISM = Mechanism(
    "stack/greenlet",
    [ring(set_up), creation(_Creation), population(hold)],
    package=Package("greenlet", "python3-greenlet"),
    parameters=[heap_offset.PARAMETER],
)
