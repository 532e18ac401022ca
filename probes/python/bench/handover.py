"""Two contexts that hand a number to and fro. `bench/handover.py KIND CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside.

Each compares the number with the one it is due, which advances by two: that is part of what the mechanisms say a unit is, and
60 of the 1,300 ns of uvloop. So is the way down to the loop: the kit's is six coroutines deep, which costs 120 ns a resumption.
"""

import sys
import time

KIND = sys.argv[1]
SWITCHES, BATCHES = int(sys.argv[3]), int(sys.argv[4])


def say(begin):
    """The batch is over."""
    print((time.perf_counter_ns() - begin) / SWITCHES)


def lock():
    """Two threads, each waiting on a lock of its own."""
    import threading

    mine, others = threading.Lock(), threading.Lock()
    mine.acquire()
    others.acquire()
    token = due = 0

    def partner():
        nonlocal token
        due = 1
        while True:
            others.acquire()
            if token != due:
                return
            due += 2
            token += 1
            mine.release()

    threading.Thread(target=partner, daemon=True).start()
    for _ in range(BATCHES):
        begin = time.perf_counter_ns()
        for _ in range(SWITCHES // 2):
            token += 1
            due += 2
            others.release()
            mine.acquire()
            if token != due:
                return
        say(begin)


def gevent():
    """Two greenlets, each waiting for its queue."""
    from gevent import queue, spawn

    mine, others = queue.Queue(1), queue.Queue(1)

    def partner():
        due = 1
        while True:
            token = others.get()
            if token != due:
                return
            due += 2
            mine.put(token + 1)

    spawn(partner)
    token = due = 0
    for _ in range(BATCHES):
        begin = time.perf_counter_ns()
        for _ in range(SWITCHES // 2):
            others.put(token + 1)
            token = mine.get()
            due += 2
            if token != due:
                return
        say(begin)


async def futures(make):
    """Two tasks of asyncio's, each awaiting a future that the other sets."""
    import asyncio

    mine, others = make(), make()

    async def partner():
        nonlocal others
        due = 1
        while True:
            token = await others
            others = make()
            if token != due:
                return
            due += 2
            mine.set_result(token + 1)

    task = asyncio.ensure_future(partner())
    token = due = 0
    for _ in range(BATCHES):
        begin = time.perf_counter_ns()
        for _ in range(SWITCHES // 2):
            others.set_result(token + 1)
            token = await mine
            mine = make()
            due += 2
            if token != due:
                return
        say(begin)
    task.cancel()


async def through(depth, inner):
    """As many coroutines deep as the kit's."""
    await (through(depth - 1, inner) if depth else inner)


def uvloop():
    """The loop of uvloop."""
    import uvloop as library

    loop = library.new_event_loop()
    loop.run_until_complete(through(5, futures(loop.create_future)))


def taskgroup():
    """A task in a TaskGroup of its own, made and waited for."""
    import asyncio

    entered = 0

    async def body():
        nonlocal entered
        entered += 1

    async def main():
        for _ in range(BATCHES):
            begin = time.perf_counter_ns()
            for _ in range(SWITCHES):
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(body())
            say(begin)

    asyncio.new_event_loop().run_until_complete(through(5, main()))
    if entered != BATCHES * SWITCHES:
        sys.exit("a task was not entered")


def trio():
    """Two tasks, each waiting for its channel."""
    import trio as library

    async def main():
        to_me, mine = library.open_memory_channel(0)
        to_other, others = library.open_memory_channel(0)

        async def partner():
            due = 1
            while True:
                token = await others.receive()
                if token != due:
                    return
                due += 2
                await to_me.send(token + 1)

        library.lowlevel.spawn_system_task(partner)
        token = due = 0
        for _ in range(BATCHES):
            begin = time.perf_counter_ns()
            for _ in range(SWITCHES // 2):
                await to_other.send(token + 1)
                token = await mine.receive()
                due += 2
                if token != due:
                    return
            say(begin)

    library.run(main)


{"lock": lock, "gevent": gevent, "taskgroup": taskgroup, "trio": trio, "uvloop": uvloop}[KIND]()
