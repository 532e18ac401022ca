"""thread/python-threading: threads of CPython hand a token round. The main thread is context 0.

`handover` says by what: a threading.Lock for each thread, which it acquires to wait and the one before it releases, or a
threading.Event, with the token in a shared place; or a queue.SimpleQueue for each, which carries the token.
"""

import time
from threading import Event, Lock, Thread

from kit import machine, measure, wire
from kit.experiments import creation, population, ring
from kit.measure import Mechanism, check_memory
from kit.plan import Parameter

from .blocking import BlockingRing, JoinedCreation

# The touched part of a stack, the thread's state, and the objects of Python (observed with CPython 3.11).
BYTES_EACH = 40_000


def _lock():
    place, lock = [None], Lock()
    lock.acquire()
    wait, wake = lock.acquire, lock.release

    def put(token):
        place[0] = token
        wake()

    def get():
        wait()
        return place[0]

    return put, get


def _queue():
    # Here, because a Python before 3.7, which has none, must be able to say that it is too old.
    from queue import SimpleQueue

    queue = SimpleQueue()
    return queue.put, queue.get


def _event():
    place, event = [None], Event()
    wait, wake, clear = event.wait, event.set, event.clear

    def put(token):
        place[0] = token
        wake()

    def get():
        wait()
        clear()
        return place[0]

    return put, get


_MEDIA = {"lock": _lock, "queue": _queue, "event": _event}


def _start(body, *arguments):
    """Daemons: what is left of a ring must not keep the process alive."""
    thread = Thread(target=body, args=arguments, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise wire.unsupported(
            "limit_reached", f"the system gives no more threads ({error}); ask for fewer contexts"
        ) from error
    return thread


def set_up(plan):
    """Gives the workload of the plan."""
    check_memory(plan.contexts, BYTES_EACH, "threads")
    make = _MEDIA[plan.parameters["handover"]]

    def spawn(body, index):
        def pinned():
            measure.pin(plan, index)
            body(index)

        _start(pinned)

    measure.pin(plan, 0)
    return BlockingRing(plan, [make() for _ in range(plan.contexts)], spawn)


class _Creation(JoinedCreation):
    """Make a thread, start it, join it."""

    def __init__(self):
        super().__init__(lambda body: _start(body).join())

    async def reset(self):
        # The last one may be on its way out, and would take its counts with it.
        for _ in range(100):
            if len(machine.task_switches() or ()) < 2:
                break
            time.sleep(0.001)
        await super().reset()


async def hold(plan, contexts):
    """Threads that wait for a lock which nobody releases."""
    check_memory(contexts, BYTES_EACH, "threads")
    lock, threads, ran = Lock(), [], [0]
    lock.acquire()

    def body():
        ran[0] += 1
        lock.acquire()

    for _ in range(contexts):
        # It returns when the thread has begun; what is left of its way to the lock it goes before the reading, which waits.
        threads.append(_start(body))
    while ran[0] != contexts:
        time.sleep(0.001)
    time.sleep(0.01)
    return threads, ran[0]


MECHANISM = Mechanism(
    "thread/python-threading",
    [ring(set_up), creation(_Creation), population(hold)],
    parameters=[Parameter("handover", list(_MEDIA))],
    pins=True,
)
