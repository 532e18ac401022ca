"""One `run`, as asked: parsed once, never changed. What calibration makes of it stands in the `plan` message."""

import re

from . import wire
from .wire import refuse

# The largest k of PROTOCOL.md, section 1.
MAX_UNITS = 1_000_000_000_000


class Plan:
    """The keys of `run`, plus `parameters`: every parameter of the mechanism as text."""

    def send(self, writer, units):
        """Says what will be done, with the k that calibration gave."""
        keys = ["mechanism", "experiment", "contexts", "timing", "cpus", "batches", "warmup_batches", "parameters"]
        writer.send("plan", batch_units=units, **{key: getattr(self, key) for key in keys})


class Parameter:
    """One parameter of a mechanism: one of some words, or an integer where there are none."""

    def __init__(self, name, words):
        self.name, self.words = name, words


def parse(words, mechanisms):
    """Reads the words after `run`, in any order. The mechanism must be known before its parameters can be told from typing
    errors, so it is looked for first."""
    values = _split(words)
    take = _Taker(values)
    mechanism = _find(take.text("mechanism"), mechanisms)
    plan = Plan()
    plan.mechanism = mechanism.id
    take.report_fd()
    take.word("protocol", [str(wire.PROTOCOL)])
    plan.experiment = take.word("experiment", mechanism.experiments)
    plan.timing = take.word("timing", mechanism.timings)
    plan.cpus = take.cpus("cpus")
    for key in ("contexts", "batch_units", "batch_ns", "batches", "warmup_batches", "verify_units", "seed"):
        setattr(plan, key, take.integer(key))
    plan.parameters = {p.name: take.parameter(p) for p in mechanism.parameters}
    for key in values:
        raise refuse("unknown_key", f"`{key}` is neither a key of `run` nor a parameter of {mechanism.id}")
    return plan, mechanism


def report_fd(words):
    """Looked for before anything else is judged, so that even a refusal reaches the host."""
    for word in words:
        found = re.fullmatch("report_fd=([0-9]{1,7})", word)
        if found:
            return int(found.group(1))
    return 1


def check_describe(words):
    """`describe` knows no key but report_fd."""
    values = _split(words)
    _Taker(values).report_fd()
    for key in values:
        raise refuse("unknown_key", f"`{key}` is not a key of `describe`; only report_fd is")


def _split(words):
    values = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise refuse("unknown_key", f"`{word}` is not of the form key=value")
        if not re.fullmatch(r"[A-Za-z0-9._,/+-]*", value):
            raise refuse("bad_value", f"the value of `{key}` may hold only letters, digits and . _ , / + -")
        if key in values:
            raise refuse("bad_value", f"`{key}` is given twice; give it once")
        values[key] = value
    return values


def _find(wanted, mechanisms):
    for mechanism in mechanisms:
        if mechanism.id == wanted:
            return mechanism
    raise refuse("unknown_mechanism", f"this probe has no mechanism `{wanted}`; `describe` lists those it has")


class _Taker:
    """Removes values one by one; whatever is left at the end is unknown."""

    def __init__(self, values):
        self.values = values

    def text(self, key):
        if key not in self.values:
            raise refuse(
                "bad_value", f"`{key}` is missing; a plan has every key, and every parameter that `describe` lists"
            )
        return self.values.pop(key)

    def report_fd(self):
        """The one key that has a default."""
        if "report_fd" in self.values:
            self.integer("report_fd")

    def integer(self, key):
        text = self.text(key)
        if not re.fullmatch("[0-9]{1,19}", text):
            raise refuse("bad_value", f"`{key}={text}` must be an integer")
        return int(text)

    def parameter(self, parameter):
        if parameter.words is None:
            return str(self.integer(parameter.name))
        return self.word(parameter.name, parameter.words)

    def word(self, key, words):
        text = self.text(key)
        if text not in words:
            raise refuse("bad_value", f"`{key}={text}` must be one of: {', '.join(words)}")
        return text

    def cpus(self, key):
        text = self.text(key)
        parts = text.split(",") if text else []
        if not all(re.fullmatch("[0-9]{1,19}", part) for part in parts):
            raise refuse("bad_value", f"`{key}={text}` must be a list of CPU numbers such as 0,1")
        return [int(part) for part in parts]
