"""The probe as the host starts it: what the host's conformance suite does not ask of every probe."""

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


def plan(mechanism, *words):
    """All words of a plan, of which some are given."""
    given = ["mechanism=" + mechanism, *words]
    lines = "".join(json.dumps(message, separators=(",", ":")) + "\n" for message in MECHANISMS)
    whole = subprocess.run(
        [FOLDER.parent / "words", *given], input=lines, stdout=subprocess.PIPE, text=True, check=True
    )
    return ["run", *whole.stdout.split()]


def run(mechanism, *words):
    """The transcript of such a plan."""
    return transcript(*plan(mechanism, *words))


MECHANISMS = [message for message in transcript("describe")[0] if message["t"] == "mechanism"]


class Run(unittest.TestCase):
    def check(self, timing, handover):
        messages, status = run(
            "fiber/asyncio",
            "contexts=5",
            "batches=3",
            "warmup_batches=1",
            "batch_units=1003",
            "verify_units=11",
            f"timing={timing}",
            f"handover={handover}",
        )
        evidence, end = messages[-2:]
        self.assertEqual((end["status"], status), ("ok", 0), end)
        # 1003 rounded up to whole laps.
        self.assertEqual((evidence["units"], evidence["token"]), (4 * 1005,) * 2)
        self.assertEqual(evidence["turns"], {"total": 4 * 1005, "min": 4 * 201, "max": 4 * 201, "contexts": 5})
        self.assertEqual((evidence["hops"]["count"], evidence["hops"]["in_order"]), (15, 15))
        self.assertEqual((evidence["counts"]["distinct_frames"], evidence["address_spaces"]), (5, 1))

    def footprint(self, mechanism, *parameters):
        """Bytes of one context, as the test counts them from a transcript that it checks."""
        messages, status = run(
            mechanism, "experiment=footprint", "contexts=4000", "batches=2", "warmup_batches=1", *parameters
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
                    self.check(timing, handover)

    def test_what_no_plan_of_the_host_asks_for_is_refused(self):
        for words, answer in (("cpus=0,1", run("fiber/asyncio", "cpus=0,1")), ("go", transcript("go"))):
            with self.subTest(words):
                messages, status = answer
                self.assertEqual((messages[1]["status"], messages[1]["code"], status), ("refused", "bad_value", 1))

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
            for words in (["describe"], plan("fiber/asyncio")):
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
                [sys.executable, "-B", "probe.py", *plan("stack/greenlet")],
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
        messages, status = run("fiber/asyncio", f"contexts={1 << 24}", "handover=queue")
        if status == 0 and messages[-1]["status"] == "ok":
            self.skipTest("this machine has that much memory")
        self.assertEqual((messages[-1]["code"], status), ("limit_reached", 0))


if __name__ == "__main__":
    unittest.main()
