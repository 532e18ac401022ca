"""A ruler: a fixed piece of work that has nothing to do with the mechanism. What it takes right before and right after a batch
says how fast the machine was then, whatever the batch itself says.

It is the interpreter's own code, and only reads: a loop of the language differs by a tenth between batches (its branches are
foreseen or not), what also writes (`sum`, `tuple.count`) by a fifth between starts (its objects lie this way or that). A chain of
dependent steps would say what `width` says, and system calls take a tenth more after a batch of many contexts.
"""

from .clock import now

# Small, so that little of it must be fetched again after a batch.
TEXT = b"a" * 1024


def width_of_core(times):
    """Steps of which a core takes several per cycle: a neighbour on the same core takes its share of them."""
    for _ in range(times):
        TEXT.isalpha()


class Ruler:
    """Readings before every batch and after the last."""

    def __init__(self, batches):
        self.ticks = [0] * (batches + 1)

    def read(self, i):
        """Before batch i. First untimed: after a batch the code is anywhere but in the nearest cache."""
        width_of_core(3)
        now()
        begin = now()
        width_of_core(5)
        self.ticks[i] = now() - begin

    def beside(self, begin, end):
        """The slower of that before and that after of these batches."""
        return list(map(max, self.ticks[begin:end], self.ticks[begin + 1 : end + 1]))
