"""The messages of PROTOCOL.md, section 2: one JSON object per line, ASCII, integers only."""

import json
import os
import sys

PROTOCOL = 1

# A line stays below 65 536 bytes even if every number had 20 digits.
TICKS_PER_LINE = 3000
SAMPLES_PER_LINE = 1400  # With what the ruler took.
BUCKETS_PER_LINE = 1400


class Refusal(Exception):
    """Why a run does not take place or came to nothing; it becomes the `end` message."""

    def __init__(self, status, code, detail, errno=None):
        super().__init__(detail)
        self.status, self.code, self.detail, self.errno = status, code, detail, errno


def refuse(code, detail):
    """The plan is bad."""
    return Refusal("refused", code, detail)


def unsupported(code, detail):
    """The plan is fine, but this machine cannot carry it out."""
    return Refusal("unsupported", code, detail)


def failed(code, detail, errno=None):
    """Something broke."""
    return Refusal("failed", code, detail, errno)


class Writer:
    """Sends messages, one line each."""

    def __init__(self, descriptor):
        self.descriptor = descriptor

    def send(self, kind, **fields):
        """Writes one message. A host that no longer listens is the end of the run: nothing could be reported about it."""
        line = json.dumps({"t": kind, **fields}, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            while line:
                line = line[os.write(self.descriptor, line) :]
        except OSError as error:
            sys.exit(f"cannot write a message: {error}")

    def send_samples(self, seq, phase, units, ticks, width):
        """Writes the ticks of one phase and what the ruler took beside them, and gives the next sequence number."""
        for begin in range(0, len(ticks), SAMPLES_PER_LINE):
            part = slice(begin, begin + SAMPLES_PER_LINE)
            self.send("samples", seq=seq, phase=phase, units=units, ticks=ticks[part], rulers={"width": width[part]})
            seq += 1
        return seq

    def send_histogram(self, seq, phase, histogram):
        """Writes the histogram of one phase and gives the next sequence number."""
        buckets = histogram.buckets()
        for begin in range(0, len(buckets), BUCKETS_PER_LINE):
            self.send(
                "histogram",
                seq=seq,
                phase=phase,
                units=histogram.count,
                bits=histogram.BITS,
                buckets=buckets[begin : begin + BUCKETS_PER_LINE],
                sum=histogram.sum,
                min=histogram.min,
                max=histogram.max,
                pair_sum=histogram.pair_sum,
                pair_count=histogram.pair_count,
                span_counter=histogram.span_counter,
                span_clock=histogram.span_clock,
            )
            seq += 1
        return seq


def send_end(writer, samples, refusal=None):
    """Says how it ended."""
    if refusal is None:
        writer.send("end", status="ok", samples=samples)
    else:
        writer.send(
            "end", status=refusal.status, samples=samples, code=refusal.code, detail=refusal.detail, errno=refusal.errno
        )
