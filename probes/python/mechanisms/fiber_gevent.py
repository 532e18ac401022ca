"""fiber/gevent: greenlets of gevent hand a token round through its hub. The main greenlet is context 0.

`handover` says by what: a gevent.queue.Queue of one place for each, a gevent.event.Event for each, or `gevent.sleep(0)`, where
all greenlets stay ready, the hub takes them in turn, and the token lies in a shared place with the number of the next.
"""

from kit import heap_offset
from kit.experiments import creation, population, ring
from kit.measure import Mechanism, check_memory
from kit.packages import Package
from kit.plan import Parameter

from .blocking import BlockingRing, JoinedCreation

# A greenlet with its frames, its piece of the C stack, and its queue (observed with CPython 3.11).
BYTES_EACH = 9000


def _queues(contexts):
    from gevent.queue import Queue

    queues = [Queue(1) for _ in range(contexts)]
    return [(queue.put, queue.get) for queue in queues]


def _events(contexts):
    from gevent.event import Event

    def made():
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

    return [made() for _ in range(contexts)]


def _sleeps(contexts):
    from gevent import sleep

    due, place = -1, None

    def made(index):
        def put(token):
            nonlocal due, place
            due, place = index, token

        def get():
            nonlocal due
            while due != index:
                sleep(0)
            due = -1
            return place

        return put, get

    return [made(i) for i in range(contexts)]


def set_up(plan):
    """Gives the workload of the plan."""
    from gevent import spawn

    check_memory(plan.contexts, BYTES_EACH, "greenlets")
    media = {"queue": _queues, "event": _events, "sleep": _sleeps}[plan.parameters["handover"]]
    return BlockingRing(plan, media(plan.contexts), spawn)


def _creation():
    """Make a greenlet, let the hub enter it, let it return, which wakes the one that joins it."""
    from gevent import spawn

    return JoinedCreation(lambda body: spawn(body).join())


async def hold(plan, contexts):
    """Greenlets that wait for what the next token would come by, each for its own; those of `sleep` are only ready."""
    from gevent import event, queue, sleep, spawn

    handover, ran = plan.parameters["handover"], 0
    check_memory(contexts, BYTES_EACH, "greenlets")

    def body():
        nonlocal ran
        ran += 1
        while True:
            {"event": lambda: event.Event().wait(), "queue": lambda: queue.Queue(1).get(), "sleep": lambda: sleep(0)}[
                handover
            ]()

    greenlets = [spawn(body) for _ in range(contexts)]
    sleep(0)
    return greenlets, ran


MECHANISM = Mechanism(
    "fiber/gevent",
    [ring(set_up), creation(_creation), population(hold)],
    [heap_offset.PARAMETER, Parameter("handover", ["queue", "event", "sleep"])],
    package=Package("gevent", "python3-gevent"),
)
