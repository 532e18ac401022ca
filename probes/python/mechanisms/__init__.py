"""One file a mechanism, and the list of them, sorted by id."""

from . import coroutine_python_generator, fiber_asyncio, stack_greenlet

LIST = [
    coroutine_python_generator.MECHANISM,
    fiber_asyncio.MECHANISM,
    stack_greenlet.MECHANISM,
]
