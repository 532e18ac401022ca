"""executor/call-soon: callbacks are handed to an event loop of asyncio that runs in a thread of its own; the main thread is
outside.

A lot has as many callbacks as there are contexts. The main thread hands it over by call_soon_threadsafe and waits for a lock
until the last of them runs; or the last callback of each lot hands over the next one by call_soon.
"""

import asyncio
import time
from threading import Lock, Thread

from kit import machine, wire
from kit.clock import now
from kit.evidence import Turns
from kit.experiments import submission
from kit.measure import Mechanism, Workload
from kit.plan import Parameter


class _Submission(Workload):
    def __init__(self, plan):
        if plan.parameters["workers"] != "1":
            raise wire.unsupported("unsupported_here", "an event loop runs in one thread; ask for workers=1")
        self.within = plan.parameters["from"] == "within"
        self.loop = asyncio.new_event_loop()
        self.cpu = machine.cpu_reader()
        self.turns = [0] * plan.contexts
        self.left = self.at_work = self.token = self.same_cpu = self.ran = self.elapsed = 0
        self.submitters_cpu = -1
        self.done = Lock()
        self.done.acquire()
        # A daemon: it must not keep the process alive.
        Thread(target=self.loop.run_forever, daemon=True).start()
        while not self.loop.is_running():
            time.sleep(0.001)

    def _hand_over(self, call):
        lot = min(len(self.turns), self.left)
        self.left -= lot
        self.at_work = lot
        self.submitters_cpu = self.cpu()
        for context in range(lot):
            call(self._run, context)

    def _run(self, context):
        self.turns[context] += 1
        self.same_cpu += self.cpu() == self.submitters_cpu
        self.token += 1
        self.at_work -= 1
        if self.at_work:
            return
        if self.within and self.left:
            self._hand_over(self.loop.call_soon)
            return
        self.ran = now()
        self.done.release()

    async def run(self, units):
        self.left, self.elapsed = units, 0
        while self.left:
            begin = now()
            self._hand_over(self.loop.call_soon_threadsafe)
            self.done.acquire()
            self.elapsed += self.ran - begin

    def took(self, elapsed):
        return self.elapsed

    async def reset(self):
        self.turns = [0] * len(self.turns)
        self.token = self.same_cpu = 0

    async def claim(self):
        turns = Turns()
        for count in self.turns:
            turns.count(count)
        return turns, self.token, False

    def counts(self):
        return {} if self.cpu() < 0 else {"on_submitters_cpu": self.same_cpu}


MECHANISM = Mechanism(
    "executor/call-soon",
    [submission(_Submission)],
    parameters=[Parameter("from", ["outside", "within"]), Parameter("workers", None)],
)
