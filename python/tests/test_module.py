"""The module with the real program: SWITCHCOST names it, as `scripts/test` does. Nothing here asserts a time."""

import contextlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import switchcost
from switchcost import measured

PROGRAM = os.environ.get("SWITCHCOST", str(Path(__file__).parents[2] / "target/release/switchcost"))


def pandas_is_here():
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


class Module(unittest.TestCase):
    def setUp(self):
        with contextlib.ExitStack() as stack:
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            stack.enter_context(mock.patch.object(measured, "program", lambda: PROGRAM))
            stack.enter_context(mock.patch.dict(os.environ, {"XDG_DATA_HOME": str(self.folder)}))
            self.addCleanup(stack.pop_all().close)

    def measured(self):
        return switchcost.run("control/call", "thread/pipe", rounds=2, batches=3, batch_time="100us")

    def test_a_run_has_rows_warnings_and_a_name(self):
        run = self.measured()
        labels = [row["label"] for row in run.document["results"]]
        self.assertEqual(labels, ["control/call", "thread/pipe"])
        self.assertIn(run.id, repr(run))
        # Two starts are too few for an interval.
        self.assertTrue(any("few" in warning for warning in run.warnings), run.warnings)
        self.assertRegex(run.document["results"][0]["build"]["runtime"], "static|dynamic")

    def test_what_is_loaded_is_what_was_measured(self):
        run = self.measured()
        file = self.folder / "run.jsonl"
        exported = subprocess.run([PROGRAM, "export", "latest", "-o", str(file)], capture_output=True, check=False)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        loaded = switchcost.load(file)
        self.assertEqual(loaded.id, run.id)
        self.assertEqual(loaded.document["results"], run.document["results"])

    @unittest.skipUnless(pandas_is_here(), "without pandas")
    def test_frames_hold_every_figure_and_every_batch(self):
        run = self.measured()
        self.assertEqual(list(run.rows.label), ["control/call", "thread/pipe"])
        self.assertIn("build_runtime", run.rows.columns)
        batches = run.batches[(run.batches.label == "thread/pipe") & (run.batches.phase == "measure")]
        # A round whose start was disturbed has a second one.
        self.assertEqual(batches.start.nunique(), run.document["results"][1]["starts"])
        self.assertEqual(len(batches), 3 * batches.start.nunique())
        self.assertLessEqual(run.rows["median"].iloc[1], batches.value.max())

    @unittest.skipIf(pandas_is_here(), "with pandas")
    def test_without_pandas_it_says_what_to_install(self):
        with self.assertRaisesRegex(ImportError, r"pip install 'switchcost\[pandas\]'"):
            self.measured().rows  # noqa: B018

    def test_what_fails_is_the_program_s_sentence_and_status(self):
        for call in (lambda: switchcost.run("no/such"), lambda: switchcost.load(self.folder / "none.jsonl")):
            with self.assertRaises(switchcost.Error) as caught:
                call()
            self.assertEqual(caught.exception.status, 2)
            self.assertEqual(len(str(caught.exception).splitlines()), 1)
        (self.folder / "other.jsonl").write_text("nonsense\n")
        with self.assertRaisesRegex(switchcost.Error, "other|run"):
            switchcost.load(self.folder / "other.jsonl")

    def test_too_old_a_python_is_a_sentence(self):
        source = (Path(switchcost.__file__)).read_text()
        with (
            mock.patch.object(sys, "version_info", (3, 7, 0)),
            self.assertRaisesRegex(ImportError, "3.9 or newer, and this is 3.7"),
        ):
            exec(compile(source, "switchcost", "exec"), {"__name__": "switchcost"})


if __name__ == "__main__":
    unittest.main()
