"""fiber/asyncio-timer: a task of asyncio's event loop sleeps until a time that was fixed beforehand."""

from kit.experiments import waiter
from kit.experiments.wakeup import PERIOD
from kit.measure import Mechanism

from . import fiber_asyncio


def sleep(nanoseconds):
    """What a program awaits."""
    return fiber_asyncio.asyncio.sleep(nanoseconds / 1e9)


MECHANISM = Mechanism("fiber/asyncio-timer", [waiter(sleep)], [PERIOD], runner=fiber_asyncio.run_until_end)
