"""fiber/uvloop: what fiber/asyncio does, on the event loop of uvloop."""

from kit.measure import Mechanism
from kit.packages import Package

from . import fiber_asyncio


def _run_until_end(coroutine):
    import uvloop

    fiber_asyncio.run_until_end(coroutine, uvloop.new_event_loop)


MECHANISM = Mechanism(
    "fiber/uvloop",
    fiber_asyncio.OFFERS,
    fiber_asyncio.PARAMETERS,
    runner=_run_until_end,
    package=Package("uvloop", "python3-uvloop"),
)
