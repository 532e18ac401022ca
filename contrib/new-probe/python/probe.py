"""Measures coroutine/@name@. Put your library's calls into the three functions; the kit does the rest."""

import pathlib
import sys

# A link to the installed kit. In another checkout: ln -sfn "$(switchcost new-probe --kit python)" kit
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "kit"))

from kit.resumed import own_probe  # noqa: E402


def live(ring, index):
    """What a context does: it suspends, takes the token that comes, and hands it on."""
    token = yield
    while True:
        for lap in ring.lap_numbers():
            if token != lap:
                break
            token = yield token
        token = yield ring.obey(index, lap - 1, token)


def make(ring, index):
    """Makes a context that is suspended. Gives what resumes it: it takes a token and gives the one handed on."""
    context = live(ring, index)
    next(context)
    return context.send


def make_and_end(counter):
    """Makes a context, enters it once, lets it end."""
    next(brief(counter), None)


def brief(counter):
    counter.entered += 1
    return
    yield


own_probe("@name@", "coroutine/@name@", make, make_and_end)
