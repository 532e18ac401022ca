"""The probe as the host starts it: every experiment of every mechanism, each way of timing, and what a workload claims."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


def transcript(*words):
    """(messages, exit status) of one start, over descriptor 3."""
    read, write = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-B", "probe.py", *words, f"report_fd={write}"],
        cwd=FOLDER,
        pass_fds=[write],
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        os.close(write)
        with os.fdopen(read, encoding="ascii") as report:
            messages = [json.loads(line) for line in report]
        printed = process.stdout.read()
    assert printed == "", printed
    return messages, process.returncode


MECHANISMS = [message for message in transcript("describe")[0] if message["t"] == "mechanism"]


class Describe(unittest.TestCase):
    def test_it_lists_what_runs_here_and_says_why_not(self):
        self.assertEqual(len(MECHANISMS), 5)
        for mechanism in MECHANISMS:
            if not mechanism["available"]:
                self.assertEqual(mechanism["code"], "missing_library", "only greenlet may be missing")
                self.assertTrue(mechanism["reason"] and mechanism["install"])


class Run(unittest.TestCase):
    def check(self, mechanism, experiment, timing, **parameters):
        contexts = 5
        words = {
            "mechanism": mechanism,
            "experiment": experiment,
            "timing": timing,
            "contexts": contexts,
            "batches": 3,
            "warmup_batches": 1,
        }
        words.update(parameters, batch_units=1003, verify_units=11)
        messages, status = transcript("run", *(f"{key}={value}" for key, value in words.items()))
        kinds = [message["t"] for message in messages]
        self.assertEqual((kinds[0], kinds[-1], status), ("hello", "end", 0), messages[-1])
        plan, evidence, end = (next(m for m in messages if m["t"] == kind) for kind in ("plan", "evidence", "end"))
        ring = experiment == "switch" and not mechanism.startswith("control/")
        units = 1005 if ring else 1003  # Rounded up to whole laps.
        self.assertEqual((plan["batch_units"], plan["contexts"], end["status"]), (units, contexts, "ok"))
        self.assertEqual((evidence["units"], evidence["token"], evidence["turns"]["total"]), (4 * units,) * 3)
        self.assertLess(evidence["page_faults"]["major"], 100)
        if ring:
            self.assertEqual(
                evidence["turns"], {"total": 4 * units, "min": 4 * units // 5, "max": 4 * units // 5, "contexts": 5}
            )
            del evidence["hops"]["same_cpu"]
            self.assertEqual(evidence["hops"], {"count": 15, "in_order": 15, "same_thread": 15, "timed": False})
            self.assertEqual((evidence["counts"]["distinct_frames"], evidence["address_spaces"]), (contexts, 1))
        if timing == "each":
            histograms = [m for m in messages if m["t"] == "histogram"]
            recorded = sum(count for m in histograms for _, count in m["buckets"])
            self.assertEqual((recorded, end["samples"]), (4 * units, 4 * units))
            self.assertTrue(all(m["pair_count"] == m["units"] and m["span_clock"] > m["sum"] for m in histograms))
        else:
            ticks = [tick for m in messages if m["t"] == "samples" for tick in m["ticks"]]
            self.assertEqual((len(ticks), end["samples"]), (4, 4))

    def test_every_experiment_of_every_mechanism(self):
        for mechanism in MECHANISMS:
            if not mechanism["available"]:
                continue
            for experiment in set(mechanism["experiments"]) - {"footprint"}:
                for timing in mechanism["timings"]:
                    with self.subTest(mechanism["id"], experiment=experiment, timing=timing):
                        self.check(mechanism["id"], experiment, timing)

    def footprint(self, mechanism, *parameters):
        """Bytes of one context, as the test counts them from a transcript that it checks."""
        messages, status = transcript(
            "run",
            f"mechanism={mechanism}",
            "experiment=footprint",
            "contexts=4000",
            "batches=2",
            "warmup_batches=1",
            *parameters,
        )
        evidence, end = messages[-2:]
        self.assertEqual((end["status"], end["samples"], status), ("ok", 9, 0), end)
        self.assertEqual((evidence["units"], evidence["turns"]["total"], evidence["turns"]["contexts"]), (12000,) * 3)
        samples = [(m["phase"], m["quantity"], m["units"], len(m["ticks"])) for m in messages if m["t"] == "samples"]
        quantities = ("resident_bytes", "virtual_bytes", "kernel_bytes")
        self.assertEqual(
            samples, [("warmup", q, 4000, 1) for q in quantities] + [("measure", q, 4000, 2) for q in quantities]
        )
        return (
            sum(next(m["ticks"] for m in messages if m.get("quantity") == quantities[0] and m["phase"] == "measure"))
            / 8000
        )

    def test_footprints(self):
        generator = self.footprint("coroutine/python-generator")
        # The interpreter's own figure of a generator, and the place in the list.
        own = sys.getsizeof(x for x in ()) + 8
        self.assertTrue(0.8 * own < generator < 2 * own, (generator, own))
        for mechanism in MECHANISMS:
            if (
                mechanism["available"]
                and "footprint" in mechanism["experiments"]
                and mechanism["id"] != "coroutine/python-generator"
            ):
                self.assertGreater(self.footprint(mechanism["id"]), generator, mechanism["id"])
        for handover in ("event", "queue", "sleep"):
            self.assertGreater(self.footprint("fiber/asyncio", f"handover={handover}"), generator, handover)

    def test_every_handover_of_asyncio(self):
        for handover in ("event", "queue", "sleep"):
            for timing in ("batch", "each"):
                with self.subTest(handover, timing=timing):
                    self.check("fiber/asyncio", "switch", timing, handover=handover)

    def test_it_calibrates(self):
        messages, _ = transcript("run", "mechanism=coroutine/python-generator", "batch_ns=100000", "batches=5")
        [plan] = [m for m in messages if m["t"] == "plan"]
        self.assertGreater(plan["batch_units"], 100)
        self.assertEqual(plan["batch_units"] % 2, 0)

    def test_refusals(self):
        for words, code in (
            ("run mechanism=fiber/asyncio bogus=1", "unknown_key"),
            ("run mechanism=fiber/asyncio contexts=1", "bad_value"),
            ("run mechanism=fiber/asyncio cpus=0,1", "bad_value"),
            ("describe bogus=1", "unknown_key"),
            ("go", "bad_value"),
        ):
            with self.subTest(words):
                messages, status = transcript(*words.split())
                self.assertEqual([m["t"] for m in messages], ["hello", "end"])
                self.assertEqual((messages[1]["status"], messages[1]["code"], status), ("refused", code, 1))

    def test_an_old_python_is_a_reason(self):
        """Real ones: those of pyenv and of PATH. Before 3.6 the kit cannot be read, before 3.9 it can."""
        reason = re.compile(
            r"needs Python 3\.9 or newer, and this is (2|3\.[0-8])\.[0-9.]+; put a newer one first in PATH"
        )
        versions = [f"python{version}" for version in ("2", "3.4", "3.5", "3.6", "3.7", "3.8")]
        pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        found = [str(path) for version in versions for path in pyenv.glob(f"{version[6:]}.*/bin/python")]
        found += [path for path in map(shutil.which, versions) if path and "pyenv" not in path]
        if not found:
            self.skipTest("there is no Python older than 3.9 in PATH or pyenv")
        for python in found:
            for words in (["describe"], ["run", "mechanism=fiber/asyncio"]):
                with self.subTest(python, words=words):
                    child = subprocess.run(
                        [python, "-B", "probe.py", *words],
                        cwd=FOLDER,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        text=True,
                    )
                    lines = child.stdout.strip().split("\n")
                    if child.returncode != 0:  # The one sentence; the host shows it.
                        self.assertEqual((len(lines), child.returncode), (1, 1), lines)
                        self.assertRegex(lines[0], reason)
                        continue
                    self.assertRegex(lines[1], reason)
                    self.assertEqual(json.loads(lines[-1])["status"], "ok" if words == ["describe"] else "unsupported")

    def test_without_greenlet_there_is_a_cure(self):
        """A module of that name that cannot be imported stands before the real one."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "greenlet.py").write_text("raise ImportError('hidden by a test')")
            child = subprocess.run(
                [sys.executable, "-B", "probe.py", "run", "mechanism=stack/greenlet"],
                cwd=FOLDER,
                capture_output=True,
                text=True,
                env={"PATH": os.environ["PATH"], "PYTHONPATH": folder},
            )
        end = json.loads(child.stdout.strip().split("\n")[-1])
        self.assertEqual(
            (end["status"], end["code"], child.returncode, child.stderr), ("unsupported", "missing_library", 0, "")
        )
        self.assertRegex(
            end["detail"], r"cannot be imported \(hidden by a test\); install greenlet .*pip install greenlet"
        )

    def test_a_ring_beyond_memory_is_unsupported(self):
        messages, status = transcript("run", "mechanism=fiber/asyncio", f"contexts={1 << 24}", "handover=queue")
        if status == 0 and messages[-1]["status"] == "ok":
            self.skipTest("this machine has that much memory")
        self.assertEqual((messages[-1]["code"], status), ("limit_reached", 0))


if __name__ == "__main__":
    unittest.main()
