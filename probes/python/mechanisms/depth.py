"""Calls below the switches of generators and of tasks (parameters `depth` and `frames`): each is a generator or a coroutine that
delegates to the next one by `yield from` or `await`, the last of which switches.

held: each context made so many before its first switch, and returns from none. unwound: it makes them anew for each switch, and
returns from all.
"""

import sys

from kit import wire
from kit.plan import Parameter

PARAMETERS = [Parameter("depth", None), Parameter("frames", ["held", "unwound"])]

# Calls of a probe beside those of a chain, of which some interpreters count each twice.
OTHER_CALLS = 1000


def depth_of(plan, refused=None):
    """How many; 0 where none are asked. `refused`: what else is asked that does not go with them."""
    depth = int(plan.parameters["depth"])
    if depth and (plan.timing == "each" or refused):
        raise wire.unsupported(
            "unsupported_here",
            f"depth={depth} is measured in batches{' and with ' + refused if refused else ''}; leave the rest out",
        )
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 2 * depth + OTHER_CALLS))
    return depth


class Calls:
    """What a ring counts of them."""

    def __init__(self, depth, unwound, contexts):
        self.depth, self.unwound = depth, unwound
        # Of each context, in a list of its own.
        self.entered = [[0] for _ in range(contexts)]
        self.before = 0
        self.chains = []

    def sum(self):
        return sum(count for (count,) in self.entered)

    def reset(self):
        self.before = self.sum()

    def counts(self, units):
        """Below all of so many switches. Held: by the context with the fewest, as the interpreter tells what delegates to what."""
        if self.unwound:
            return {"frames": self.sum() - self.before}
        return {"frames": min(length(chain) for chain in self.chains) * units}


def length(chain):
    """Delegations from this generator or coroutine on."""
    count = 0
    while chain is not None:
        following = getattr(chain, "gi_yieldfrom", None) or getattr(chain, "cr_await", None)
        delegates = hasattr(following, "gi_yieldfrom") or hasattr(following, "cr_await")
        count, chain = (count + 1, following) if delegates else (count, None)
    return count


def held_generator(left, body):
    """So many generators around a body."""
    return (yield from (held_generator(left - 1, body) if left > 1 else body))


def yield_below(entered, left, token):
    """Yields the token below so many calls, and returns the next one."""
    entered[0] += 1
    if left > 1:
        return (yield from yield_below(entered, left - 1, token))
    return (yield token)


async def held_coroutine(left, body):
    """So many coroutines around a body."""
    return await (held_coroutine(left - 1, body) if left > 1 else body)
