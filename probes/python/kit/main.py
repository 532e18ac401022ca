"""What the probe does when it is started."""

from mechanisms import LIST

from . import hello, measure, plan, wire

NAME = "python"
VERSION = "1"


def main(words):
    """Carries out what the words ask and gives the exit status."""
    writer = wire.Writer(plan.report_fd(words))
    hello.send_hello(writer, NAME, VERSION)
    try:
        carry_out(writer, words)
    except wire.Refusal as refusal:
        wire.send_end(writer, 0, refusal)
        return 0 if refusal.status == "unsupported" else 1
    return 0


def carry_out(writer, words):
    """`describe` or `run`; returns only after `end` with status ok."""
    verb = words[0] if words else ""
    if verb == "describe":
        plan.check_describe(words[1:])
        hello.send_mechanisms(writer, LIST)
        wire.send_end(writer, 0)
    elif verb == "run":
        measure.carry_out(writer, *plan.parse(words[1:], LIST))
    else:
        raise wire.refuse(
            "bad_value", "the first word must be `describe` or `run`" + (f", not `{verb}`" if verb else "")
        )
