"""The experiments: how a mechanism offers each. All give its name and what carries it out: a coroutine function that reports
everything but `hello`."""

from .. import heap_offset
from ..measure import Measurement
from . import footprint, wakeup


def ring(set_up):
    """set_up(plan) does everything slow and gives a Workload whose contexts stay. Raises a Refusal when the plan cannot be
    carried out."""
    return "switch", lambda writer, plan: Measurement(plan).carry_out(writer, set_up, heap_offset.blocks)


def creation(make):
    """make() gives a Workload that makes contexts one after another."""
    return "create", lambda writer, plan: Measurement(plan).carry_out(writer, lambda _: make(), lambda _: [])


def submission(set_up):
    """set_up(plan) gives a Workload that hands tasks to a pool."""
    return "submit", lambda writer, plan: Measurement(plan).carry_out(writer, set_up, lambda _: [])


def population(hold):
    """hold(plan, contexts), a coroutine function, makes so many contexts, lets each run once and suspend, and gives (whatever
    keeps them alive, how many ran)."""
    return "footprint", lambda writer, plan: footprint.carry_out(writer, plan, hold)


def waiter(sleep):
    """sleep(nanoseconds) is a coroutine function."""
    return "wakeup", lambda writer, plan: wakeup.carry_out(writer, plan, sleep)
