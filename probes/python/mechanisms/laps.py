"""What the rings of generators and of greenlets share.

Their switch costs CPython few instructions, so that a token counted up at every switch, checked, and a turn counter
beside it would double it. Therefore the token is the number of the lap: context 0 counts it up, every other context
compares it with its own count of laps and hands it on as it is. That count is the variable of a `for` over a range, which
is cheaper than the two additions, and it is the count of turns as well.

What is not the number that was due is a command (below), or wrong. After a command a context counts from zero again.
"""

import sys

from kit.evidence import Turns
from kit.measure import Workload

# A range that never ends in practice, yet fits a machine word, which makes it quicker.
FOREVER = 1 << 62

RESET = -1
PUBLISH = -2
# And below: the verification pass, VERIFY - sequence number.
VERIFY = -1000


class LapRing(Workload):
    """State of the ring outside its contexts. A subclass passes the token."""

    def __init__(self, contexts):
        self.lap = contexts
        self.laps = 0  # Done since reset; the number on the token.
        self.broken = False
        self.turns = self.trace = None
        self.frames = set()  # Of the contexts, as each finds its own at `claim`.
        self.stamp = 0  # Counter as read by the sender.

    def send_round(self, token):
        """Passes the token round once, from context 0 to context 0 where that is the driver, and gives what came back."""
        raise NotImplementedError

    def obey(self, index, turns, token):
        """Called by a context with what is not the token it was due; gives what it hands on."""
        if token == RESET:
            return token
        if token == PUBLISH:
            self.turns.count(turns)
            self.frames.add(id(sys._getframe(1)))  # Alive as long as the context, so that no other has its address.
            return token
        if token <= VERIFY:
            self.trace.visit(VERIFY - token, index)
            return token - 1
        self.broken = True
        return token

    async def reset(self):
        self.laps = 0
        self.send_round(RESET)

    async def claim(self):
        self.turns = Turns()
        self.frames.clear()
        self.send_round(PUBLISH)
        turns, self.turns = self.turns, None
        return turns, self.laps * self.lap, self.broken

    def counts(self):
        return {"distinct_frames": len(self.frames)}
