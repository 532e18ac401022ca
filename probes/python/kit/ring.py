"""What all rings share: the laps that were passed, and the commands.

A context compares what it is handed with what it is due. Everything else is a command (a negative token) or wrong, so that
the measured loop pays one comparison for all of it.
"""

import sys

from .evidence import Turns
from .measure import Workload

# A range that never ends in practice, yet fits a machine word, which makes it quicker.
FOREVER = 1 << 62

RESET = -1
PUBLISH = -2
# And below: the verification pass, VERIFY - sequence number.
VERIFY = -1000


class Ring(Workload):
    """State of the ring outside its contexts. A subclass has `round(token)`, a coroutine function that passes a token round once
    and gives what came back."""

    # The driver's own turns are its laps.
    driver_is_context = True

    def __init__(self, contexts):
        self.lap = contexts
        self.laps = 0  # Done since reset.
        self.broken = False
        self.turns = self.trace = self.histogram = None
        self.frames = set()  # Of the contexts, as each finds its own at `claim`.
        self.stamp = 0  # Counter as read by the sender.

    def lap_numbers(self):
        """The tokens that a context is due, one a turn."""
        return range(1, FOREVER)

    def obey(self, index, turns, token, frame=None):
        """Called by a context, whose frame that is, with what is not the token it was due; gives what it hands on."""
        if token == RESET:
            return token
        if token == PUBLISH:
            self.turns.count(turns)
            self.frames.add(
                id(frame or sys._getframe(1))
            )  # Alive as long as the context, so that no other has its address.
            return token
        if token <= VERIFY:
            self.trace.visit(VERIFY - token, index)
            return token - 1
        self.broken = True
        return token

    async def reset(self):
        self.laps = 0
        await self.round(RESET)

    async def claim(self):
        self.turns = Turns()
        self.frames.clear()
        if self.driver_is_context:
            self.obey(0, self.laps, PUBLISH)
        await self.round(PUBLISH)
        return self.turns, self.laps * self.lap, self.broken

    def counts(self):
        return {"distinct_frames": len(self.frames)}

    async def verify(self, units, trace):
        self.trace = trace
        trace.visit(0, 0)
        token = VERIFY - 1
        for _ in range(units // self.lap):
            token = self.obey(0, 0, await self.round(token))
        return True


class CountedRing(Ring):
    """A ring whose token counts every switch. A context is due a number that advances by one lap a turn, and so is its count
    of turns; where a switch costs a microsecond, that is little."""

    def tokens(self, units):
        """The tokens that come back to the driver; the laps count as passed."""
        begin = self.laps * self.lap
        self.laps += units // self.lap
        return range(begin + self.lap, begin + units + 1, self.lap)

    def answer(self, index, due, token):
        """What a context hands on after a command, and what it is due next."""
        return self.obey(index, due // self.lap, token, sys._getframe(1)), index if token == RESET else due


class Creation(Workload):
    """A context is made, entered once, ends and is dropped, one after another. Each adds one to `entered`."""

    entered = 0

    async def reset(self):
        self.entered = 0

    async def claim(self):
        return Turns.once_each(self.entered), self.entered, False
