"""Controls of fiber/asyncio: what one task or callback does alone, of what a switch is made of."""

from kit.clock import now
from kit.evidence import Turns
from kit.experiments import ring
from kit.measure import Mechanism, Workload

from . import fiber_asyncio


class _Alone(Workload):
    def __init__(self, plan):
        self.units = 0

    async def run_each(self, units, histogram):
        for _ in range(units):
            begin = now()
            await self.run(1)
            histogram.arrive(now() - begin)

    async def reset(self):
        self.units = 0

    async def claim(self):
        turns = Turns()
        turns.count(self.units)
        return turns, self.units, False


class _Callback(_Alone):
    """control/asyncio-callback: a callback puts itself into the loop's queue again: one round of the loop, with its look for
    events, each."""

    async def run(self, units):
        loop = fiber_asyncio.asyncio.get_running_loop()
        call_soon, done = loop.call_soon, loop.create_future()
        left = units

        def again():
            nonlocal left
            left -= 1
            if left:
                call_soon(again)
            else:
                done.set_result(None)

        if units:
            call_soon(again)
            await done
        self.units += units


class _Future(_Alone):
    """control/asyncio-future: a future is made, its result set and taken; the result is there, so that nobody is suspended."""

    async def run(self, units):
        make = fiber_asyncio.asyncio.get_running_loop().create_future
        begin = self.units
        for token in range(begin + 1, begin + units + 1):
            future = make()
            future.set_result(token)
            self.units = await future


CALLBACK = Mechanism("control/asyncio-callback", [ring(_Callback)], runner=fiber_asyncio.run_until_end, control=True)
FUTURE = Mechanism("control/asyncio-future", [ring(_Future)], runner=fiber_asyncio.run_until_end, control=True)
