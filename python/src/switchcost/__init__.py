"""What a context switch costs on this machine, with evidence.

    import switchcost

    run = switchcost.run("thread/pipe", "stack", rounds=10)
    run.rows[["label", "median", "low", "high", "verdict"]]
    run.batches.groupby("label").value.describe()

`run` measures, `load` reads a run file (`switchcost export -o run.jsonl`). Data frames need pandas: `pip install 'switchcost[pandas]'`.
"""

import sys

# Nothing above this, and nothing in this file, is newer than Python 2.7: an old Python has to be able to read the sentence.
if sys.version_info < (3, 9):  # noqa: UP036
    version = "%d.%d" % sys.version_info[:2]  # noqa: UP031
    raise ImportError(
        "switchcost needs Python 3.9 or newer, and this is " + version + "; the program itself needs none"
    )

from .measured import Error, Run, load, program, run

__all__ = ["Error", "Run", "load", "program", "run"]
