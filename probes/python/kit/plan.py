"""One `run`, as asked: parsed once, never changed. What calibration makes of it stands in the `plan` message."""

import re

from . import wire
from .wire import refuse

# The limits of PROTOCOL.md, section 1.
MAX_UNITS = 1_000_000_000_000
MAX_BATCHES = 1_000_000
MAX_CONTEXTS = 1 << 24
MAX_CPU = (1 << 20) - 1
MAX_DESCRIPTOR = 1 << 20


class Plan:
    """The keys of `run`, plus `parameters`: every parameter of the mechanism as text, defaults filled in."""

    def send(self, writer, units):
        """Says what will be done, with the k that calibration gave."""
        keys = ["mechanism", "experiment", "contexts", "timing", "cpus", "batches", "warmup_batches", "parameters"]
        writer.send("plan", batch_units=units, **{key: getattr(self, key) for key in keys})


class Parameter:
    """One parameter of a mechanism: one of some words."""

    def __init__(self, name, words, default):
        self.name, self.words, self.default = name, words, default


def parse(words, mechanisms):
    """Reads the words after `run`. The mechanism must be known before its parameters can be told from typing errors, so
    it is looked for first; the order of the words does not matter."""
    values = _split(words)
    mechanism = _find(values, mechanisms)
    take = _Taker(values)
    plan = Plan()
    plan.mechanism = mechanism.id
    take.integer("report_fd", 1, 0, MAX_DESCRIPTOR)
    take.integer("protocol", wire.PROTOCOL, wire.PROTOCOL, wire.PROTOCOL)
    plan.experiment = take.word("experiment", "switch", mechanism.experiments)
    plan.contexts = take.integer("contexts", 2, 1, MAX_CONTEXTS)
    plan.timing = take.word("timing", "batch", mechanism.timings)
    plan.cpus = take.cpus("cpus")
    plan.batch_units = take.integer("batch_units", 0, 0, MAX_UNITS)
    plan.batch_ns = take.integer("batch_ns", 1_000_000, 1, MAX_UNITS)
    plan.batches = take.integer("batches", 30, 1, MAX_BATCHES)
    plan.warmup_batches = take.integer("warmup_batches", 5, 0, MAX_BATCHES)
    plan.verify_units = take.integer("verify_units", 1000, 0, MAX_CONTEXTS)
    plan.seed = take.integer("seed", 0, 0, (1 << 63) - 1)
    plan.parameters = {p.name: take.word(p.name, p.default, p.words) for p in mechanism.parameters}
    for key in values:
        raise refuse("unknown_key", f"`{key}` is neither a key of `run` nor a parameter of {mechanism.id}")
    if plan.experiment == "switch" and plan.contexts < 2 and not mechanism.control:
        raise refuse("bad_value", "a ring needs at least two contexts: contexts=2 or more")
    return plan, mechanism


def report_fd(words):
    """Looked for before anything else is judged, so that even a refusal reaches the host."""
    for word in words:
        found = re.fullmatch("report_fd=([0-9]{1,7})", word)
        if found and int(found.group(1)) <= MAX_DESCRIPTOR:
            return int(found.group(1))
    return 1


def check_describe(words):
    """`describe` knows no key but report_fd."""
    values = _split(words)
    _Taker(values).integer("report_fd", 1, 0, MAX_DESCRIPTOR)
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


def _find(values, mechanisms):
    if "mechanism" not in values:
        raise refuse("bad_value", "`mechanism` is missing; `describe` lists the mechanisms")
    wanted = values.pop("mechanism")
    for mechanism in mechanisms:
        if mechanism.id == wanted:
            return mechanism
    raise refuse("unknown_mechanism", f"this probe has no mechanism `{wanted}`; `describe` lists those it has")


class _Taker:
    """Removes values one by one; whatever is left at the end is unknown."""

    def __init__(self, values):
        self.values = values

    def integer(self, key, default, lowest, highest):
        text = self.values.pop(key, str(default))
        if not re.fullmatch("[0-9]{1,19}", text) or not lowest <= int(text) <= highest:
            raise refuse("bad_value", f"`{key}={text}` must be an integer from {lowest} to {highest}")
        return int(text)

    def word(self, key, default, words):
        text = self.values.pop(key, default)
        if text not in words:
            raise refuse("bad_value", f"`{key}={text}` must be one of: {', '.join(words)}")
        return text

    def cpus(self, key):
        text = self.values.pop(key, "")
        parts = text.split(",") if text else []
        if not all(re.fullmatch("[0-9]{1,19}", part) and int(part) <= MAX_CPU for part in parts):
            raise refuse("bad_value", f"`{key}={text}` must be a list of CPU numbers from 0 to {MAX_CPU} such as 0,1")
        return [int(part) for part in parts]
