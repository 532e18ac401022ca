"""What a probe does when it is started."""

import os
import sys

from . import hello, measure, plan, wire


def main(name, version, mechanisms):
    """Carries out what the arguments ask, for these mechanisms, sorted by id; ends the process."""
    writer = wire.Writer(plan.report_fd(sys.argv[1:]))
    status = 0
    hello.send_hello(writer, name, version)
    try:
        carry_out(writer, sys.argv[1:], mechanisms)
    except wire.Refusal as refusal:
        wire.send_end(writer, 0, refusal)
        status = 0 if refusal.status == "unsupported" else 1
    leave(status)


def leave(status):
    """Ends the process."""
    # At once: taking a million contexts down in order would last longer than the host waits, and print a line for each.
    sys.stderr.flush()
    os._exit(status)


def carry_out(writer, words, mechanisms):
    """`describe` or `run`; returns only after `end` with status ok."""
    verb = words[0] if words else ""
    if verb == "describe":
        plan.check_describe(words[1:])
        hello.send_mechanisms(writer, mechanisms)
        wire.send_end(writer, 0)
    elif verb == "run":
        measure.carry_out(writer, *plan.parse(words[1:], mechanisms))
    else:
        raise wire.refuse(
            "bad_value", "the first word must be `describe` or `run`" + (f", not `{verb}`" if verb else "")
        )
