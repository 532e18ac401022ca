"""fiber/asyncio: tasks of one event loop hand a token round. The driver's task is context 0.

`handover` says by what: a future that the next task awaits, an asyncio.Event, an asyncio.Queue of one place, or
`asyncio.sleep(0)`, where all tasks stay ready, the loop takes them in turn, and the token lies in a shared variable.

The token counts every switch. Each context compares it with the number it is due, which advances by one lap a turn and
so is its count of turns. Everything else is a command (a negative token), which takes the path of a wrong token.
"""

from kit import heap_offset
from kit.clock import now
from kit.experiments import creation, population, ring
from kit.measure import Mechanism, check_memory
from kit.plan import Parameter
from kit.ring import CountedRing, Creation

from . import depth

# A task, its coroutines, and its future, event or queue (observed with CPython 3.11).
BYTES_EACH = {"future": 1400, "event": 2300, "queue": 5000, "sleep": 1600}

# A coroutine that awaits another.
BYTES_A_CALL = 500

# The driver is busy with something else; only `sleep` sees it, because there a task runs without being handed anything.
IDLE = -3

# The module, once `run_until_end` has imported it. Importing takes longer than all else that `describe` does.
asyncio = None


def run_until_end(coroutine, make_loop=None):
    """Not asyncio.run: that would cancel a million tasks one by one when all is over. The process ends instead."""
    global asyncio
    import asyncio

    (make_loop or asyncio.new_event_loop)().run_until_complete(coroutine)


def set_up(plan):
    """Gives the workload of the plan."""
    handover = plan.parameters["handover"]
    calls = depth.depth_of(plan, None if handover == "future" else "handover=future")
    check_memory(plan.contexts, BYTES_EACH[handover] + BYTES_A_CALL * calls, "tasks")
    if calls:
        return (_UnwindingRing if plan.parameters["frames"] == "unwound" else _HeldRing)(plan.contexts, calls)
    return _RINGS[handover](plan.contexts, plan.timing == "each")


class _Ring(CountedRing):
    """All that does not depend on the kind of switch. A subclass has `prepare`, which makes what the contexts hand the token
    over by, and the contexts' bodies, `member` and `each`. Their loops and those of the driver are written out for each kind: a
    function called at every switch would be part of its price."""

    def __init__(self, contexts, timed_each):
        super().__init__(contexts)
        body = self.each if timed_each else self.member
        self.prepare()
        # The loop holds tasks by weak references only.
        self.tasks = [self.spawn(body, i) for i in range(1, contexts)]

    def spawn(self, body, index):
        """Makes a task."""
        return asyncio.ensure_future(body(index))


class _FutureRing(_Ring):
    """A context makes the future that it will await before it hands over: whoever comes next finds it there."""

    def prepare(self):
        self.make = asyncio.get_running_loop().create_future
        self.inbox = [self.make() for _ in range(self.lap)]

    async def member(self, index):
        make, inbox, lap = self.make, self.inbox, self.lap
        following = (index + 1) % lap
        due = index
        while True:
            token = await inbox[index]
            inbox[index] = make()
            if token == due:
                due += lap
                token += 1
            else:
                token, due = self.answer(index, due, token)
            inbox[following].set_result(token)

    async def each(self, index):
        make, inbox, lap = self.make, self.inbox, self.lap
        following = (index + 1) % lap
        due = index
        while True:
            token = await inbox[index]
            inbox[index] = make()
            arrived = now()
            if token == due:
                self.histogram.arrive(arrived - self.stamp)
                due += lap
                token += 1
            else:
                token, due = self.answer(index, due, token)
            self.stamp = now()
            inbox[following].set_result(token)

    async def run(self, units):
        make, inbox, lap = self.make, self.inbox, self.lap
        for token in self.tokens(units):
            inbox[1].set_result(token - lap + 1)
            if await inbox[0] != token:
                self.broken = True
            inbox[0] = make()

    async def run_each(self, units, histogram):
        self.histogram = histogram
        make, inbox, lap = self.make, self.inbox, self.lap
        for token in self.tokens(units):
            self.stamp = now()
            inbox[1].set_result(token - lap + 1)
            came = await inbox[0]
            inbox[0] = make()
            histogram.arrive(now() - self.stamp)
            if came != token:
                self.broken = True

    async def round(self, token):
        self.inbox[1].set_result(token)
        token = await self.inbox[0]
        self.inbox[0] = self.make()
        return token


class _HeldRing(_FutureRing):
    """Its tasks await through others."""

    def __init__(self, contexts, calls):
        self.calls = depth.Calls(calls, self.unwound, contexts)
        super().__init__(contexts, False)
        self.calls.chains = [task.get_coro() for task in self.tasks]

    unwound = False

    def spawn(self, body, index):
        return asyncio.ensure_future(depth.held_coroutine(self.calls.depth, body(index)))

    async def run(self, units):
        await depth.held_coroutine(self.calls.depth, super().run(units))

    async def reset(self):
        await super().reset()
        self.calls.reset()

    def counts(self):
        return {**super().counts(), **self.calls.counts(self.laps * self.lap)}


class _UnwindingRing(_HeldRing):
    """Its tasks call and return through others at each switch."""

    unwound = True

    def spawn(self, body, index):
        return asyncio.ensure_future(body(index))

    async def below(self, left, index, following, token):
        """Hands the token over below so many calls, and returns the next one."""
        self.calls.entered[index][0] += 1
        if left > 1:
            return await self.below(left - 1, index, following, token)
        self.inbox[following].set_result(token)
        token = await self.inbox[index]
        self.inbox[index] = self.make()
        return token

    async def member(self, index):
        inbox, lap, calls = self.inbox, self.lap, self.calls.depth
        following = (index + 1) % lap
        due = index
        token = await inbox[index]
        inbox[index] = self.make()
        while True:
            if token == due:
                due += lap
                token = await self.below(calls, index, following, token + 1)
            else:
                token, due = self.answer(index, due, token)
                inbox[following].set_result(token)
                token = await inbox[index]
                inbox[index] = self.make()

    async def run(self, units):
        lap, calls = self.lap, self.calls.depth
        for token in self.tokens(units):
            if await self.below(calls, 0, 1, token - lap + 1) != token:
                self.broken = True


class _EventRing(_Ring):
    """An event carries nothing: the token lies in a shared variable."""

    def prepare(self):
        self.token = 0
        self.events = [asyncio.Event() for _ in range(self.lap)]

    async def member(self, index):
        event, lap = self.events[index], self.lap
        following = self.events[(index + 1) % lap]
        due = index
        while True:
            await event.wait()
            event.clear()
            if self.token == due:
                due += lap
                self.token += 1
            else:
                self.token, due = self.answer(index, due, self.token)
            following.set()

    async def each(self, index):
        event, lap = self.events[index], self.lap
        following = self.events[(index + 1) % lap]
        due = index
        while True:
            await event.wait()
            event.clear()
            arrived = now()
            if self.token == due:
                self.histogram.arrive(arrived - self.stamp)
                due += lap
                self.token += 1
            else:
                self.token, due = self.answer(index, due, self.token)
            self.stamp = now()
            following.set()

    async def run(self, units):
        event, following, lap = self.events[0], self.events[1], self.lap
        for token in self.tokens(units):
            self.token = token - lap + 1
            following.set()
            await event.wait()
            event.clear()
            if self.token != token:
                self.broken = True

    async def run_each(self, units, histogram):
        self.histogram = histogram
        event, following, lap = self.events[0], self.events[1], self.lap
        for token in self.tokens(units):
            self.token = token - lap + 1
            self.stamp = now()
            following.set()
            await event.wait()
            event.clear()
            arrived = now()
            histogram.arrive(arrived - self.stamp)
            if self.token != token:
                self.broken = True

    async def round(self, token):
        self.token = token
        self.events[1].set()
        await self.events[0].wait()
        self.events[0].clear()
        return self.token


class QueueRing(_Ring):
    def prepare(self):
        self.queues = [asyncio.Queue(1) for _ in range(self.lap)]

    async def member(self, index):
        get, lap = self.queues[index].get, self.lap
        put = self.queues[(index + 1) % lap].put
        due = index
        while True:
            token = await get()
            if token == due:
                due += lap
                token += 1
            else:
                token, due = self.answer(index, due, token)
            await put(token)

    async def each(self, index):
        get, lap = self.queues[index].get, self.lap
        put = self.queues[(index + 1) % lap].put
        due = index
        while True:
            token = await get()
            arrived = now()
            if token == due:
                self.histogram.arrive(arrived - self.stamp)
                due += lap
                token += 1
            else:
                token, due = self.answer(index, due, token)
            self.stamp = now()
            await put(token)

    async def run(self, units):
        get, put, lap = self.queues[0].get, self.queues[1].put, self.lap
        for token in self.tokens(units):
            await put(token - lap + 1)
            if await get() != token:
                self.broken = True

    async def run_each(self, units, histogram):
        self.histogram = histogram
        get, put, lap = self.queues[0].get, self.queues[1].put, self.lap
        for token in self.tokens(units):
            self.stamp = now()
            await put(token - lap + 1)
            came = await get()
            arrived = now()
            histogram.arrive(arrived - self.stamp)
            if came != token:
                self.broken = True

    async def round(self, token):
        await self.queues[1].put(token)
        return await self.queues[0].get()


class _SleepRing(_Ring):
    """Every task is always ready. The loop's queue is first in, first out, so a lap is one pass through it."""

    def prepare(self):
        self.token = IDLE

    async def member(self, index):
        sleep, lap = asyncio.sleep, self.lap
        due = index
        while True:
            if self.token == due:
                due += lap
                self.token += 1
            elif self.token != IDLE:
                self.token, due = self.answer(index, due, self.token)
            await sleep(0)

    async def each(self, index):
        sleep, lap = asyncio.sleep, self.lap
        due = index
        while True:
            arrived = now()
            if self.token == due:
                self.histogram.arrive(arrived - self.stamp)
                due += lap
                self.token += 1
            elif self.token != IDLE:
                self.token, due = self.answer(index, due, self.token)
            self.stamp = now()
            await sleep(0)

    async def run(self, units):
        sleep, lap = asyncio.sleep, self.lap
        for token in self.tokens(units):
            self.token = token - lap + 1
            await sleep(0)
            if self.token != token:
                self.broken = True
        self.token = IDLE

    async def run_each(self, units, histogram):
        self.histogram = histogram
        sleep, lap = asyncio.sleep, self.lap
        for token in self.tokens(units):
            self.token = token - lap + 1
            self.stamp = now()
            await sleep(0)
            arrived = now()
            histogram.arrive(arrived - self.stamp)
            if self.token != token:
                self.broken = True
        self.token = IDLE

    async def round(self, token):
        self.token = token
        await asyncio.sleep(0)
        token, self.token = self.token, IDLE
        return token


_RINGS = {"event": _EventRing, "future": _FutureRing, "queue": QueueRing, "sleep": _SleepRing}


class _Creation(Creation):
    """Make a task, let the loop enter it, let it return, which wakes the driver, and drop it."""

    def __init__(self):
        self.create_task = asyncio.get_running_loop().create_task
        self.token = 0

    async def body(self, token):
        self.entered += 1
        return token + 1

    async def run(self, units):
        create_task, body, token = self.create_task, self.body, self.token
        for _ in range(units):
            token = await create_task(body(token))
        self.token = token

    async def run_each(self, units, histogram):
        create_task, body, token = self.create_task, self.body, self.token
        for _ in range(units):
            begin = now()
            token = await create_task(body(token))
            histogram.arrive(now() - begin)
        self.token = token


async def hold(plan, contexts):
    """Tasks that wait for what the next token would come by, each for its own; those of `sleep` are only ready."""
    handover, ran = plan.parameters["handover"], 0
    check_memory(contexts, BYTES_EACH[handover], "tasks")
    make = {
        "event": lambda: asyncio.Event().wait(),
        "future": asyncio.get_running_loop().create_future,
        "queue": lambda: asyncio.Queue(1).get(),
        "sleep": lambda: asyncio.sleep(0),
    }[handover]

    async def body():
        nonlocal ran
        ran += 1
        while True:
            await make()

    tasks = [asyncio.ensure_future(body()) for _ in range(contexts)]
    await asyncio.sleep(0)
    return tasks, ran


# What any event loop of asyncio offers.
OFFERS = [ring(set_up), creation(_Creation), population(hold)]
PARAMETERS = [*depth.PARAMETERS, heap_offset.PARAMETER, Parameter("handover", ["future", "event", "queue", "sleep"])]

MECHANISM = Mechanism("fiber/asyncio", OFFERS, PARAMETERS, runner=run_until_end)
