"""One file per mechanism, and the list of them, sorted by id."""

from . import (
    control_asyncio,
    coroutine_python_generator,
    fiber_asyncio,
    fiber_asyncio_timer,
    stack_greenlet,
)

LIST = [
    control_asyncio.CALLBACK,
    control_asyncio.FUTURE,
    coroutine_python_generator.MECHANISM,
    fiber_asyncio.MECHANISM,
    fiber_asyncio_timer.MECHANISM,
    stack_greenlet.MECHANISM,
]
