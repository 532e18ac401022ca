"""Nodes whose answers are made: a run file each, and nodes that hang, die, answer twice, fill their disk or lie."""

import hashlib
import json

# What the switchcost of such a node does. Who it is, it knows by its engine.
PROGRAM = """\
#!/bin/sh
if [ -n "${SLURMD_NODENAME-}" ]; then node=$SLURMD_NODENAME
elif [ -n "${RAY_RAYLET_PID-}" ]; then node=$(tr '\\0' '\\n' </proc/$RAY_RAYLET_PID/cmdline | sed -n 's/^--node-name=//p')
else node=$(set -- $SSH_CONNECTION; echo $3); fi
file=%(folder)s/$node.jsonl
case $(cat %(folder)s/$node.kind) in
    hangs) head -c 5000 "$file"; exec sleep 1000 ;;
    dies)
        head -c 5000 "$file"
        # A host leaves the network; a node of Slurm loses what looks after its step, and one of Ray its worker and all that starts workers.
        above=$$
        up() { awk '$1 == "PPid:" { print $2 }' "/proc/$above/status"; }
        if [ -n "${SLURMD_NODENAME-}" ]; then until [ "$(cat /proc/$above/comm)" = slurmstepd ]; do above=$(up); done
        elif [ -n "${RAY_RAYLET_PID-}" ]; then until [ "$(up)" = "$RAY_RAYLET_PID" ]; do above=$(up); done
        else exec ip link set eth0 down; fi
        kill -9 $RAY_RAYLET_PID "$above" ;;
    twice) cat "$file" "$file" ;;
    fills)
        for word; do shift; case $word in */runs.sqlite) word=%(full)s/$$.sqlite ;; esac; set -- "$@" "$word"; done
        exec %(switchcost)s "$@" ;;
    *) cat "$file" ;;
esac
"""

# How each shows in the verdict: of what was left out, or of the rows that are not judged.
SHOWN = {
    "hangs": "its node was late",
    "dies": "its node gave no answer",
    "twice": "something follows the `end` line",
    "fills": "full",
    "lies": "contradicted",
}


# Times as long as the clock of a node that lies says.
LIE = 1e6


def node_file(golden, number, factor):
    """The golden run as this node would have measured it: another id, all ticks times the factor, and the CPU time with them."""
    lines = []
    for text in golden.splitlines()[:-1]:
        line = json.loads(text)
        if line["t"] == "run":
            line["id"] = f"20260101T000000-{number:04x}"
        scaled(line, factor * (1 + number % 7 / 1000))
        lines.append(json.dumps(line, separators=(",", ":"), ensure_ascii=False))
    body = "\n".join(lines) + "\n"
    end = {"t": "end", "lines": body.count("\n"), "sha256": hashlib.sha256(body.encode()).hexdigest()}
    return body + json.dumps(end, separators=(",", ":")) + "\n"


def scaled(value, factor):
    """Multiplies all ticks beneath, and CPU times of a node that does not lie; what else ran on this machine is not what is tested."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "ticks" and isinstance(part, list):
            value[key] = [round(tick * factor) for tick in part]
        elif key in ("cpu_ns", "cpu_time_ns") and factor < LIE:
            value[key] = round(part * factor)
        elif key == "disturbances":
            value[key] = []
        elif isinstance(part, (dict, list)):
            scaled(part, factor)


def give(folder, golden, names, odd):
    """The first five nodes are bad, `odd` are slow, the others alike."""
    folder.mkdir(exist_ok=True)
    kinds = dict(zip(names, SHOWN, strict=False))
    for number, name in enumerate(names):
        kind = kinds.get(name, "good")
        # Batches that last longer than their probe ran are contradicted: equal nodes are faster than the golden one.
        factor = LIE if kind == "lies" else 1 if name in odd else 0.8
        (folder / f"{name}.jsonl").write_text(node_file(golden, number, factor))
        (folder / f"{name}.kind").write_text(kind)
    return kinds
