"""fiber/asyncio-taskgroup: a task in an asyncio.TaskGroup of its own, which waits for it."""

from kit.clock import now
from kit.experiments import creation
from kit.measure import Mechanism
from kit.packages import Since
from kit.ring import Creation

from . import fiber_asyncio


class _Creation(Creation):
    """Open a group, start a task in it, leave the group when the task has ended."""

    def __init__(self):
        self.group = fiber_asyncio.asyncio.TaskGroup

    async def body(self):
        self.entered += 1

    async def run(self, units):
        group, body = self.group, self.body
        for _ in range(units):
            async with group() as tasks:
                tasks.create_task(body())

    async def run_each(self, units, histogram):
        group, body = self.group, self.body
        for _ in range(units):
            begin = now()
            async with group() as tasks:
                tasks.create_task(body())
            histogram.arrive(now() - begin)


MECHANISM = Mechanism(
    "fiber/asyncio-taskgroup",
    [creation(_Creation)],
    [],
    runner=fiber_asyncio.run_until_end,
    package=Since((3, 11), "asyncio.TaskGroup"),
)
