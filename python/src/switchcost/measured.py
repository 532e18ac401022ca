"""Runs: measured by the program, or read from a file by it. No figure is computed here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

PARTIAL = 4
CONTRADICTED = 5


class Error(Exception):
    """What the program said, one sentence, and `status`, the exit status that it ended with."""

    def __init__(self, sentence: str, status: int) -> None:
        """Keeps both."""
        super().__init__(sentence)
        self.status = status


class Run:
    """A run: what the program says of it, and every batch behind its figures."""

    def __init__(self, lines: str) -> None:
        """Takes the lines of a run file."""
        self._lines = lines

    def __repr__(self) -> str:
        """Names the run and counts its rows."""
        return f"<switchcost.Run {self.id}: {len(self.document['results'])} rows>"

    @cached_property
    def document(self) -> dict[str, Any]:
        """The run as `switchcost export --format json` writes it; docs/results.schema.json describes it."""
        with tempfile.TemporaryDirectory(prefix="switchcost-") as folder:
            path = Path(folder, "run.jsonl")
            path.write_text(self._lines, encoding="utf-8")
            document: dict[str, Any] = json.loads(_said("export", str(path), "--private-facts", "--format", "json"))
        return document

    @property
    def id(self) -> str:
        """What the store calls it."""
        return str(self.document["run"]["id"])

    @property
    def warnings(self) -> list[str]:
        """What changes how its figures are read."""
        return [*self.document["cautions"], *self.document["warnings"]]

    @cached_property
    def rows(self) -> pandas.DataFrame:
        """A line for each row: label, figures with their 95 % intervals, verdict, and the build of the probe (compiler, C library and linking)."""
        return _pandas().json_normalize(self.document["results"], sep="_", max_level=1)

    @cached_property
    def batches(self) -> pandas.DataFrame:
        """A line for each batch of each start, warm-up included and marked; `value` is ns per unit, or bytes where `quantity` names what was counted."""
        found = _pandas().DataFrame(_batches(self._lines), columns=BATCH)
        labels = {_key(row): row["label"] for row in self.document["results"]}
        found.insert(0, "label", [labels.get(_key(line)) for line in found[list(KEY)].to_dict("records")])
        return found[found.label.notna()].reset_index(drop=True)


KEY = ("mechanism", "probe", "experiment", "contexts", "placement", "timing", "parameters")
BATCH = (*KEY, "round", "start", "verdict", "disturbed", "phase", "batch", "units", "quantity", "ticks", "value")


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(_text(row[name]) for name in KEY)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={value[name]}" for name in sorted(value))
    return "" if value is None else str(value)


def _batches(lines: str) -> list[tuple[Any, ...]]:
    """Every batch, in the order of measurement."""
    variants: dict[int, tuple[Any, ...]] = {}
    batches: list[tuple[Any, ...]] = []
    for line in lines.splitlines():
        said = json.loads(line)
        # A twin, by which the run finds its own noise, has a label.
        if said["t"] == "variant" and not said["label"]:
            variants[said["index"]] = tuple(_text(said[name]) if name == "parameters" else said[name] for name in KEY)
        if said["t"] != "invocation" or said["variant"] not in variants or not said.get("hello"):
            continue
        tick = 1e9 / said["hello"]["clock"]["ticks_per_second"]
        common = (said["round"], said["sequence"], said["verdict"], bool(said["disturbances"]))
        for samples in said["samples"]:
            quantity = samples.get("quantity") or ""
            for number, ticks in enumerate(samples["ticks"]):
                value = ticks * (1 if quantity else tick) / samples["units"]
                of = (samples["phase"], number, samples["units"], quantity, ticks, value)
                batches.append((*variants[said["variant"]], *common, *of))
    return batches


def run(*patterns: str, store: str | os.PathLike[str] | None = None, **options: Any) -> Run:
    """Measures what the patterns name, by default the main mechanisms, and gives the run, which the store has as well.

    `options` are those of `switchcost run`, with underscores: `rounds=10`, `probe="gcc-12,musl"`, `contexts=[2, 100]`, `wait=True`.
    Raises `Error` if nothing could be measured. A run that was stopped early, or has a row whose evidence speaks against it, is given, and
    its warnings and verdicts say so.
    """
    arguments = ["run", *patterns]
    if store is not None:
        arguments += ["--store", os.fspath(store)]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            arguments += [option] if value else []
        elif isinstance(value, (list, tuple)):
            arguments += [option, ",".join(str(part) for part in value)]
        else:
            arguments += [option, str(value)]
    return Run(_said(*arguments, "--format", "jsonl", fine=(0, PARTIAL, CONTRADICTED)))


def load(path: str | os.PathLike[str]) -> Run:
    """Reads a run file, as `switchcost export -o run.jsonl` writes it. Raises `Error` if it cannot be read or is none."""
    file = Path(path)
    try:
        lines = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"{file}: cannot be read ({error})", 2) from error
    loaded = Run(lines)
    loaded.document  # noqa: B018 - the program judges whether it is a run file, and says so now
    return loaded


def program() -> str:
    """Where the program is: the one that was installed with this module, else the one on PATH."""
    for folder in (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")):
        candidate = os.path.join(folder, "switchcost")
        if os.access(candidate, os.X_OK):
            return candidate
    found = shutil.which("switchcost")
    if found is None:
        raise Error("the program `switchcost` is neither beside this Python nor on PATH; reinstall the wheel", 2)
    return found


def _said(*arguments: str, fine: tuple[int, ...] = (0,)) -> str:
    """What the program prints; an `Error` with its own sentence where it fails."""
    try:
        done = subprocess.run([program(), *arguments], capture_output=True, check=False)
    except OSError as error:
        raise Error(f"{program()} cannot be started ({error}); install the wheel for this processor", 2) from error
    if done.returncode not in fine:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Error(said[-1] if said else f"switchcost ended with status {done.returncode}", done.returncode)
    return done.stdout.decode("utf-8")


def _pandas() -> Any:
    """The module, or a sentence."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "data frames need pandas: pip install 'switchcost[pandas]'; `Run.document` has the same figures without"
        ) from error
    return pandas
