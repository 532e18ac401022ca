"""fiber/trio: tasks of trio hand a token round by memory channels without room. The driver's task is context 0.

The loops are those of fiber/asyncio by queues. Tasks that are only ready cannot hand a token round: trio takes them in an
order that it draws.
"""

from kit import heap_offset
from kit.clock import now
from kit.experiments import creation, population, ring
from kit.main import leave
from kit.measure import Mechanism, check_memory
from kit.packages import Package
from kit.ring import Creation

from .fiber_asyncio import QueueRing

# A task, its coroutines, and the two ends of its channel (observed with trio 0.22).
BYTES_EACH = 8000

# The module, once `_run_until_end` has imported it.
trio = None


def _run_until_end(coroutine):
    global trio
    import trio

    async def whole():
        await coroutine
        # At once: trio would cancel every task.
        leave(0)

    trio.run(whole)


def set_up(plan):
    """Gives the workload of the plan."""
    check_memory(plan.contexts, BYTES_EACH, "tasks")
    return _ChannelRing(plan.contexts, plan.timing == "each")


class _Channel:
    """Both ends of one, by the names that a queue has."""

    def __init__(self):
        send, receive = trio.open_memory_channel(0)
        self.put, self.get = send.send, receive.receive


class _ChannelRing(QueueRing):
    def prepare(self):
        self.queues = [_Channel() for _ in range(self.lap)]

    def spawn(self, body, index):
        """A task of the system: what ends with the run needs no nursery."""
        return trio.lowlevel.spawn_system_task(body, index)


class _Creation(Creation):
    """Open a nursery, start a task in it, leave the nursery when the task has ended."""

    def __init__(self):
        self.open_nursery = trio.open_nursery

    async def body(self):
        self.entered += 1

    async def run(self, units):
        open_nursery, body = self.open_nursery, self.body
        for _ in range(units):
            async with open_nursery() as nursery:
                nursery.start_soon(body)

    async def run_each(self, units, histogram):
        open_nursery, body = self.open_nursery, self.body
        for _ in range(units):
            begin = now()
            async with open_nursery() as nursery:
                nursery.start_soon(body)
            histogram.arrive(now() - begin)


async def hold(plan, contexts):
    """Tasks that wait for their channel."""
    check_memory(contexts, BYTES_EACH, "tasks")
    ran = 0

    async def body():
        nonlocal ran
        ran += 1
        await _Channel().get()

    tasks = [trio.lowlevel.spawn_system_task(body) for _ in range(contexts)]
    while ran != contexts:
        await trio.lowlevel.checkpoint()
    return tasks, ran


MECHANISM = Mechanism(
    "fiber/trio",
    [ring(set_up), creation(_Creation), population(hold)],
    [heap_offset.PARAMETER],
    runner=_run_until_end,
    package=Package("trio", "python3-trio"),
)
