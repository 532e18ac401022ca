"""The kit: plans, messages, histogram, trace."""

import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kit import measure, plan, wire
from kit.evidence import Observed, Trace, Turns, between
from kit.experiments.wakeup import Waiter
from kit.histogram import Histogram
from kit.measure import Mechanism
from kit.ruler import Ruler

from mechanisms import LIST, fiber_asyncio

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(__file__).resolve().parents[1]
TEST_LIST = [Mechanism("fiber/test", [("switch", None), ("create", None)], [plan.Parameter("speed", ["low", "high"])])]


def words_of(mechanism, **given):
    """A whole plan of a mechanism, of which some is given."""
    usual = {"contexts": 2, "cpus": "", "batch_units": 0, "batch_ns": 1_000_000, "batches": 30, "warmup_batches": 5}
    usual |= {"protocol": 1, "experiment": "switch", "timing": "batch", "verify_units": 1000, "seed": 0}
    usual |= {parameter.name: (parameter.words or ["0"])[0] for parameter in mechanism.parameters}
    return [f"{key}={value}" for key, value in {"mechanism": mechanism.id, **usual, **given}.items()]


class IntervalsOfAsyncio(unittest.TestCase):
    """An interval of timing=each holds what a batch holds for each switch: what takes the last token away is part of its price."""

    def order(self, ring, name, recorded):
        """Readings of the clock, and calls of what is recorded, of four switches between two contexts."""
        import asyncio

        order = []

        def now():
            order.append("now")
            return len(order)

        def noted(*arguments):
            order.append(name)
            return recorded(*arguments)

        async def go():
            fiber_asyncio.asyncio = asyncio
            running = ring(2, True)
            if name == "make":
                running.make = noted
            await asyncio.sleep(0)
            event = mock.patch.object(asyncio.Event, "clear", noted) if name == "clear" else contextlib.nullcontext()
            order.clear()
            with event, mock.patch.object(fiber_asyncio, "now", now):
                await running.run_each(4, Histogram())

        asyncio.run(go())
        return order

    def test_an_event_is_cleared_and_a_future_made_within_the_interval(self):
        import asyncio

        def made():
            return asyncio.get_running_loop().create_future()

        each = ["now", "{}", "now"]
        for ring, name, recorded in (
            (fiber_asyncio._EventRing, "clear", asyncio.Event.clear),
            (fiber_asyncio._FutureRing, "make", made),
        ):
            order = self.order(ring, name, recorded)
            self.assertEqual(order, [word.format(name) for word in each] * 4, name)


class Calibration(unittest.TestCase):
    def calibrated(self, *ticks):
        """(k, length of each batch) for batches that last as long as the arguments say."""
        asked, _ = plan.parse(words_of(TEST_LIST[0], batch_ns=100), TEST_LIST)
        measurement, lengths = measure.Measurement(asked), []
        measurement.workload = measure.Workload()
        measurement.workload.lap = 3

        async def batch(units, _):
            lengths.append(units)
            return ticks[len(lengths) - 1] if len(lengths) <= len(ticks) else 0

        measurement._batch = batch
        with self.assertRaises(StopIteration) as returned:
            measurement._calibrate().send(None)
        return returned.exception.value, lengths

    def test_three_batches_in_a_row_fix_k_and_the_first_counts(self):
        self.assertEqual(self.calibrated(100, 100, 100), (3, [3, 3, 3]))
        self.assertEqual(self.calibrated(99, 100_000, 99, 100, 100, 100), (12, [3, 6, 6, 12, 12, 12]))

    def test_a_clock_that_stands_still_ends_it(self):
        with self.assertRaises(wire.Refusal) as caught:
            self.calibrated()
        self.assertEqual((caught.exception.status, caught.exception.code), ("unsupported", "limit_reached"))


class Buckets(unittest.TestCase):
    def test_they_keep_their_promise(self):
        source = random.Random(1)
        for _ in range(2000):
            value = source.getrandbits(63) >> source.randrange(63)
            histogram = Histogram()
            histogram.arrive(value)
            [[edge, count]] = histogram.buckets()
            self.assertEqual(count, 1)
            self.assertLessEqual(edge, value)
            self.assertLessEqual(value - edge, edge >> Histogram.BITS)
            if value < 1 << Histogram.BITS:
                self.assertEqual(edge, value)

    def test_edges_ascend(self):
        histogram = Histogram()
        edges = [histogram.lower_edge(bucket) for bucket in range(3000)]
        self.assertEqual(edges, sorted(set(edges)))


class Waiting(unittest.TestCase):
    def test_latencies_count_from_the_intended_times(self):
        """A wake-up 3.5 periods late serves four times, each late by another length; the next times stay where they were."""
        time, oversleeps, slept = 1000, [0, 350, 20, 0], []

        async def sleep(length):
            nonlocal time
            time += length + oversleeps[len(slept)]
            slept.append(length)

        waiter, histogram = Waiter(sleep, 100, lambda: time), Histogram()
        # The second batch goes on where the first one ended, in the middle of a wake-up.
        for units in (2, 5):
            with self.assertRaises(StopIteration):
                waiter.serve(units, histogram).send(None)
        self.assertEqual((slept, time), ([100, 100, 50, 80], 1700))
        self.assertEqual((histogram.count, histogram.sum, histogram.max), (7, 350 + 250 + 150 + 50 + 20, 350))
        self.assertEqual((waiter.served, waiter.several), (7, 1))


class Readings(unittest.TestCase):
    def test_of_two_the_slower_is_told(self):
        ruler = Ruler(3)
        ruler.read(3)
        self.assertGreater(ruler.ticks[3], 0)
        ruler.ticks[:] = 5, 7, 6, 9
        self.assertEqual((ruler.beside(0, 1), ruler.beside(1, 3)), ([7], [7, 9]))


class Evidence(unittest.TestCase):
    def test_trace_counts_hops(self):
        trace = Trace(4)
        trace.who, trace.cpu, trace.thread = [0, 1, 2, 0, 2], [0, 0, 1, 1, 1], [7, 8, 8, 7, 9]
        self.assertEqual(
            trace.judge(3), ({"count": 4, "in_order": 3, "same_cpu": 3, "same_thread": 1, "timed": False}, 1)
        )
        trace.thread[2] = -1
        self.assertNotIn("same_thread", trace.judge(3)[0])

    def test_turns(self):
        turns = Turns()
        turns.count(4)
        turns.count(3)
        self.assertEqual(vars(turns), {"total": 7, "min": 3, "max": 4, "contexts": 2})

    def test_threads_that_end_or_begin(self):
        begin = Observed({"1": (5, 5)}, (0, 0), 0, 0)
        self.assertEqual(
            between(begin, Observed({"1": (6, 5), "2": (1, 0)}, (2, 0), 1, 0))[0]["kernel"]["voluntary"], 2
        )
        fields, why = between(begin, Observed({"2": (1, 0)}, (2, 0), 1, 0))
        self.assertIsNone(fields["kernel"])
        self.assertIn("kernel", why)


# Prints where in its page an object lies that is made behind the blocks.
PLACE = """
import sys
from kit import heap_offset, plan
from mechanisms import LIST, fiber_asyncio
kept = heap_offset.blocks(plan.parse(sys.argv[1:], LIST)[0])
print(id(x for x in ()) % 4096)
"""


class Places(unittest.TestCase):
    def places(self, **words):
        def place(seed):
            generator = next(mechanism for mechanism in LIST if mechanism.id == "coroutine/python-generator")
            whole = words_of(generator, seed=seed, **words)
            return subprocess.check_output([sys.executable, "-B", "-c", PLACE, *whole], cwd=FOLDER)

        return {place(seed) for seed in range(8)}

    def test_they_are_drawn_or_those_of_every_start(self):
        self.assertGreater(len(self.places()), 3)
        self.assertEqual(len(self.places(heap_offset="fixed")), 1)


class Wire(unittest.TestCase):
    def sent(self, send):
        with tempfile.TemporaryFile() as file:
            send(wire.Writer(file.fileno()))
            file.seek(0)
            return file.read().splitlines()

    def test_ascii(self):
        [line] = self.sent(lambda writer: writer.send("note", text="µ <é> 😀"))
        self.assertEqual(json.loads(line.decode("ascii"))["text"], "µ <é> 😀")

    def test_longest_lines_fit(self):
        histogram = Histogram()
        histogram.counts = [(1 << 63) - 1] * len(histogram.counts)

        ticks = [(1 << 63) - 1] * 10_000

        def send(writer):
            seq = writer.send_samples(0, "measure", 1, ticks, ticks)
            writer.send_histogram(seq, "measure", histogram)

        lines = self.sent(send)
        self.assertGreater(len(lines), 5)
        self.assertTrue(all(len(line) < 65_536 for line in lines))


class Descriptions(unittest.TestCase):
    def test_sorted_and_described(self):
        self.assertEqual([m.id for m in LIST], sorted(m.id for m in LIST))
        for mechanism in LIST:
            text = (ROOT / "mechanisms" / f"{mechanism.id}.toml").read_text(encoding="utf-8")
            for parameter in mechanism.parameters:
                if f'"{parameter.name}"' in next(iter(re.findall(r"^common = (.*)$", text, re.M)), ""):
                    continue
                self.assertIn(f"[parameters.{parameter.name}]", text)
                self.assertIn("values = " + json.dumps(parameter.words), text)
            self.assertEqual(re.search(r"^experiments = (.*)$", text, re.M).group(1), json.dumps(mechanism.experiments))


if __name__ == "__main__":
    os.chdir(ROOT)
    unittest.main()
