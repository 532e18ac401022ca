"""The harnesses of the league: how each builds its side, measures it, and decides by its own rule that something changed.

A side is one build of the work with one measurement of it. `measure(size, name)` takes a side; `verdict(base, candidate)` is
("slower" | "faster" | "same" | "no answer", the change in per cent or None). Paired harnesses measure in `verdict`.
"""

import csv
import importlib
import io
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TOP, "target", "league")
SIZES = [0, 0.5, 1, 2, 5, 10]
ROUNDS = 10_000
COMMAND_SECONDS = 0.055
LIMIT = 600
# What `scripts/setup suites` puts there.
TOOLS = {
    "PATH": f"{os.path.join(BUILD, 'tools', 'bin')}:{os.environ['PATH']}",
    "PYTHONPATH": os.path.join(BUILD, "tools", "python"),
}
sys.path.append(TOOLS["PYTHONPATH"])


class Absent(Exception):
    """Why a harness cannot take part here."""


def folder(size):
    return os.path.join(BUILD, f"+{size}")


def say(words, cwd=HERE, statuses=(0,), **environment):
    """What a command prints. One that fails is a reason, with its last line."""
    try:
        said = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd,
            env={**os.environ, **TOOLS, **environment},
            timeout=LIMIT,
        )
    except FileNotFoundError:
        raise Absent(f"{words[0]} is not installed") from None
    if said.returncode not in statuses:
        lines = [line for line in (said.stdout + said.stderr).splitlines() if line.strip()]
        raise Absent(f"`{os.path.basename(words[0])} {' '.join(words[1:3])}`: {(lines or ['no word'])[-1].strip()}")
    return said.stdout


def refuse(name, said):
    raise Absent(f"{name} said {said.strip()[-100:]!r}")


def build_work():
    """The library of each size."""
    for size in SIZES:
        os.makedirs(folder(size), exist_ok=True)
        made = os.path.join(folder(size), "work.o")
        rounds = round(ROUNDS * (1 + size / 100))
        say(["cc", "-O2", f"-DROUNDS={rounds}", "-c", "work.c", "-o", made])
        say(["ar", "rcs", os.path.join(folder(size), "libwork.a"), made])


def judged(changed, percent):
    return ("slower" if percent > 0 else "faster") if changed else "same", percent


class Harness:
    def __init__(self, seconds, program):
        self.seconds, self.program = seconds, program

    def made(self, size):
        return os.path.join(folder(size), self.name)

    def side(self, name):
        return os.path.join(BUILD, "sides", f"{self.name}-{name}")

    def build_all(self):
        for size in SIZES:
            self.build(size)


class Cargo(Harness):
    """A bench of rust/: cargo links it anew for each size."""

    def build_all(self):
        for size in SIZES:
            said = say(
                ["cargo", "bench", "--no-run", "--locked", "--offline", "--bench", self.bench, "--message-format=json"],
                cwd=os.path.join(HERE, "rust"),
                LEAGUE_WORK=folder(size),
                CARGO_TARGET_DIR=os.path.join(BUILD, "rust"),
            )
            programs = [json.loads(line).get("executable") for line in said.splitlines() if line.startswith("{")]
            shutil.copy2([program for program in programs if program][-1], self.made(size))


class Criterion(Cargo):
    name = bench = "criterion"
    rule = "“Performance has regressed”: p < 0.05 and the change outside ± 1 %"

    def measure(self, size, name):
        times = ["--warm-up-time", str(self.seconds / 4), "--measurement-time", str(self.seconds * 3 / 4)]
        self.say(size, "--save-baseline", name, *times)
        return size, name

    def say(self, size, *words):
        home = os.path.join(BUILD, "sides", "criterion")
        return say([self.made(size), "--bench", "--noplot", *words], CRITERION_HOME=home)

    def verdict(self, base, candidate):
        said = self.say(candidate[0], "--load-baseline", candidate[1], "--baseline", base[1])
        change = re.search(r"change:\s*\[\S+ ([-+−]?[\d.]+)%", said)
        percent = float(change[1].replace("−", "-"))
        return judged("has regressed" in said or "has improved" in said, percent)


class Tango(Cargo):
    name = bench = "tango"
    rule = "a star: significant, and the change beyond 1 %"

    def measure(self, size, name):
        return size

    def verdict(self, base, candidate):
        words = ["compare", self.made(base), "-t", str(2 * self.seconds)]
        # A change that it finds ends it with status 1.
        said = say([self.made(candidate), *words], statuses=(0, 1), NO_COLOR="1")
        change = re.search(r"\]\s*([-+][\d.]+)%(\*?)", said) or refuse("tango", said)
        return judged(change[2] == "*", float(change[1]))


class Hyperfine(Harness):
    name = "hyperfine"
    rule = "p < 0.05 by Welch's t-test, as its script welch_ttest.py does; it has no rule built in"

    def build(self, size):
        try:
            self.stats = importlib.import_module("scipy.stats")
        except ImportError:
            raise Absent("scipy is not installed") from None
        library = os.path.join(folder(size), "libwork.a")
        say(["cc", "-O2", "command.c", library, "-o", self.made(size)])
        say(["hyperfine", "--version"])

    def measure(self, size, name):
        runs = max(10, round(self.seconds / COMMAND_SECONDS))
        out = self.side(name)
        say(["hyperfine", "-N", "--warmup", "3", "--runs", str(runs), "--export-json", out, self.made(size)])
        with open(out, encoding="utf-8") as file:
            return json.load(file)["results"][0]["times"]

    def verdict(self, base, candidate):
        mean = [sum(times) / len(times) for times in (base, candidate)]
        p = self.stats.ttest_ind(base, candidate, equal_var=False).pvalue
        return judged(p < 0.05, 100 * (mean[1] / mean[0] - 1))


class Benchstat(Harness):
    name = "benchstat"
    rule = "a change in place of “~”: p < 0.05 by the U-test, of 10 counts a side"

    def build(self, size):
        say(["go", "test", "-c", "-o", self.made(size), "."], os.path.join(HERE, "go"), CGO_LDFLAGS=f"-L{folder(size)}")

    def measure(self, size, name):
        each = f"-test.benchtime={self.seconds / 10}s"
        said = say([self.made(size), "-test.bench=.", "-test.count=10", each])
        with open(self.side(name), "w", encoding="utf-8") as file:
            file.write(said)
        return self.side(name)

    def benchstat(self, *files):
        tool = ["go", "tool", "benchstat", "-format", "csv", *files]
        return say(tool, cwd=os.path.join(TOP, "tests", "benchstat"))

    def verdict(self, base, candidate):
        rows = list(csv.reader(io.StringIO(self.benchstat(base, candidate))))
        row = next(row for row in rows if row and row[0].startswith("Work"))
        percent = 100 * (float(row[3]) / float(row[1]) - 1)
        return judged(row[5] != "~", percent)


class Google(Harness):
    name = "google-benchmark"
    rule = "compare.py: p < 0.05 by the U-test of CPU times, of 10 repetitions a side"
    compare = "/usr/share/benchmark/compare.py"

    def build(self, size):
        library = os.path.join(folder(size), "libwork.a")
        say(["c++", "-O2", "google.cpp", library, "-lbenchmark", "-pthread", "-o", self.made(size)])
        say(["python3", self.compare, "--help"])

    def measure(self, size, name):
        out = self.side(name)
        repeat = ["--benchmark_repetitions=10", f"--benchmark_min_time={self.seconds / 10}"]
        say([self.made(size), *repeat, f"--benchmark_out={out}", "--benchmark_out_format=json"])
        return out

    def verdict(self, base, candidate):
        out = self.side("compared")
        say(["python3", self.compare, "--no-color", "-d", out, "benchmarks", base, candidate])
        with open(out, encoding="utf-8") as file:
            found = next(row for row in json.load(file) if row.get("utest"))
        median = [statistics.median(row["cpu_time"] for row in times(side)) for side in (base, candidate)]
        return judged(found["utest"]["cpu_pvalue"] < 0.05, 100 * (median[1] / median[0] - 1))


def times(side):
    with open(side, encoding="utf-8") as file:
        return [row for row in json.load(file)["benchmarks"] if row["run_type"] == "iteration"]


class Gungraun(Cargo):
    name = "gungraun"
    bench = "callgrind"
    rule = "instructions under callgrind, by its limit `ir=0.0%`"

    def build_all(self):
        say(["valgrind", "--version"])
        say(["gungraun-runner", "--version"], statuses=(0, 1, 2))
        super().build_all()

    def say(self, size, *words):
        home = os.path.join(BUILD, "sides", "gungraun")
        return say([self.made(size), "--bench", *words], os.path.join(HERE, "rust"), (0, 3), GUNGRAUN_HOME=home)

    def measure(self, size, name):
        self.say(size, f"--save-baseline={name.replace('-', '_')}")
        return size, name.replace("-", "_")

    def verdict(self, base, candidate):
        words = [f"--load-baseline={candidate[1]}", f"--baseline={base[1]}", "--callgrind-limits=ir=0.0%"]
        said = self.say(candidate[0], *words)
        change = re.search(r"Instructions:\s*[\d.]+\|[\d.]+\s*\(([^)]*)\)", said)
        percent = 0.0 if "No change" in change[1] else float(change[1].rstrip("%"))
        return judged(percent != 0, percent)


class Ours(Harness):
    name = "switchcost"
    rule = "`compare --measure … --probe A --probe B`: the words slower and faster"

    def build(self, size):
        made = self.made(size)
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(os.path.join(HERE, "ours"), made)
        kit = say([self.program, "new-probe", "--kit", "cpp"]).strip()
        say(["make", "-C", made, f"KIT={kit}", f"WORK={folder(size)}", f"HERE={HERE}"])

    def measure(self, size, name):
        return size

    def verdict(self, base, candidate):
        probes = [word for size in (base, candidate) for word in ("--probe", self.made(size))]
        words = ["compare", "--measure", "control/work", *probes, "--budget", f"{2 * self.seconds}s"]
        store = ["--store", self.side("store.sqlite")]
        # 3, 4: none or too few starts fit in the time.
        said = say([self.program, *words, "--gate", "5%", "--format", "json", *store], statuses=(0, 1, 3, 4, 7))
        self.gated = "no answer"
        if not said:
            return "no answer", None
        answer = json.loads(said)
        row = answer["comparisons"][0]
        percent = None if row["ratio"] is None else 100 * (row["ratio"] - 1)
        self.gated = {"passed": "same", "failed": "slower"}.get(answer["gate"]["outcome"], "no answer")
        known = row["verdict"] in ("slower", "faster", "same")
        return row["verdict"] if known else "no answer", percent


HARNESSES = [Criterion, Tango, Hyperfine, Benchstat, Google, Gungraun, Ours]


def interval(found, of):
    """Wilson's 95 % interval of a share, in per cent."""
    z, share = 1.96, found / of
    middle, spread = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return [100 * max(0.0, (middle + sign * spread) / (1 + z * z / of)) for sign in (-1, 1)]
