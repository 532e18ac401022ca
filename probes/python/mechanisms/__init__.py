"""One file per mechanism, and the list of them, sorted by id."""

from . import (
    control_asyncio,
    coroutine_python_generator,
    executor_call_soon,
    fiber_asyncio,
    fiber_asyncio_taskgroup,
    fiber_asyncio_timer,
    fiber_gevent,
    fiber_trio,
    fiber_uvloop,
    stack_greenlet,
    thread_python_threading,
)

LIST = [
    control_asyncio.CALLBACK,
    control_asyncio.FUTURE,
    coroutine_python_generator.MECHANISM,
    executor_call_soon.MECHANISM,
    fiber_asyncio.MECHANISM,
    fiber_asyncio_taskgroup.MECHANISM,
    fiber_asyncio_timer.MECHANISM,
    fiber_gevent.MECHANISM,
    fiber_trio.MECHANISM,
    fiber_uvloop.MECHANISM,
    stack_greenlet.MECHANISM,
    thread_python_threading.MECHANISM,
]
