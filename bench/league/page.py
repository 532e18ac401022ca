"""The page and the picture of the league: whatever they say is computed from data/league.json."""

import collections
import html
import os
import textwrap

import harnesses

GATE = "switchcost --gate 5%"
# Comparisons of a length, below which nobody is ranked by it.
FEWEST = 2
BEGIN, END = "<!-- league: `bench/league/run` writes what follows -->\n", "<!-- /league -->\n"
CONDITIONS = {"quiet": "As the machine is", "loaded": "Beside {hogs} busy loops"}
STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1b1f24 }
.head { font-weight: 600 } .back { fill: #fff } .cell { fill: #0b62c4 } .alarm { fill: #c4320b } .empty { fill: #e8ebef }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e9ed } .back { fill: #14171b } .cell { fill: #5aa2f0 } .alarm { fill: #f0724f } .empty { fill: #2b3138 }
}
""".replace("\n", " ")


class Table:
    """What the comparisons of one condition come to."""

    def __init__(self, answer, condition):
        self.counts = collections.defaultdict(collections.Counter)
        for row in answer["comparisons"]:
            if row["condition"] == condition:
                self.counts[row["harness"], row["planted"]][row["verdict"]] += 1

    def total(self, name, size):
        return sum(self.counts[name, size].values())

    def hits(self, name, size):
        """Verdicts that say slower of a planted side, or anything changed of an unchanged one."""
        counts = self.counts[name, size]
        return counts["slower"] + (counts["faster"] if size == 0 else 0)

    def silent(self, name):
        return sum(self.counts[name, size]["no answer"] for size in harnesses.SIZES)

    def all(self, name):
        return sum(self.total(name, size) for size in harnesses.SIZES)

    def from_size(self, name):
        """The smallest slowdown that was found each time, as every larger one was; None if not even the largest."""
        smallest = None
        for size in reversed(harnesses.SIZES[1:]):
            if self.total(name, size) == 0 or self.hits(name, size) < self.total(name, size):
                break
            smallest = size
        return smallest


def names(answer):
    for kind in harnesses.HARNESSES:
        yield kind.name
    if any(row["harness"] == GATE for row in answer["comparisons"]):
        yield GATE


def per_cent(size):
    return "none" if size is None else f"{size:g} %"


def share(hits, of):
    return f"{hits}/{of}" if of else "–"


def rows(answer, condition, table):
    planted = " | ".join(f"+{size:g} %" for size in harnesses.SIZES[1:])
    yield f"| harness | false alarms (95 %) | {planted} | finds all from | no answer | s a comparison |"
    yield "|---|---" + "|--:" * (len(harnesses.SIZES) + 2) + "|"
    for name in names(answer):
        if not table.all(name):
            reason = answer["absent"].get(name, "not reached in the time")
            yield f"| {name} | not tried: {reason} |" + " |" * (len(harnesses.SIZES) + 2)
            continue
        alarms, of = table.hits(name, 0), table.total(name, 0)
        low, high = harnesses.interval(alarms, of) if of else (0, 100)
        found = " | ".join(share(table.hits(name, size), table.total(name, size)) for size in harnesses.SIZES[1:])
        took = answer["took"][condition].get(name.split(" ")[0])
        each = "–" if took is None else f"{took / 2:.1f}"
        silent = share(table.silent(name), table.all(name))
        yield (
            f"| {name} | {share(alarms, of)} ({low:.0f}–{high:.0f} %) | {found} | {per_cent(table.from_size(name))} | "
            f"{silent} | {each} |"
        )


def sentence(answer, table):
    """How we did against the others, and who finds less."""
    if not table.all("switchcost"):
        return ["switchcost was not tried."]
    tried = [kind.name for kind in harnesses.HARNESSES if table.all(kind.name)]
    if any(table.total(name, size) < FEWEST for name in tried for size in harnesses.SIZES):
        return ["Some length was compared fewer than twice: too few to say who finds more."]
    ours = table.from_size("switchcost")
    found = "found no length each time" if ours is None else f"found every slowdown from {ours:g} % on"
    alarms = share(table.hits("switchcost", 0), table.total("switchcost", 0))
    said = f"switchcost {found}; false alarms: {alarms}."
    found = [(size, name) for name in tried if (size := table.from_size(name)) is not None]
    better = sorted((size, name) for size, name in found if ours is None or size < ours)
    if not better:
        return [f"{said} No other harness found a smaller one each time."]
    listed = [
        f"- {name} from {size:g} %; false alarms: {share(table.hits(name, 0), table.total(name, 0))}"
        for size, name in better
    ]
    return [said, "We lose to those that found a smaller one:", "", *listed]


def block(answer):
    busy = answer["busy_before"]
    condition = (
        "The machine was quiet." if busy < 0.03 else f"It was not quiet: others used {100 * busy:.0f} % of the CPUs."
    )
    first = f"Measured on {answer['date']} on a rented machine: {answer['machine']}. {condition}"
    more = f"Each side had {answer['seconds']:g} s, all of it {answer['minutes']:g} minutes. Shares are of comparisons."
    yield textwrap.fill(f"{first} {more}", 100)
    for when, title in CONDITIONS.items():
        table = Table(answer, when)
        yield from ["", f"## {title.format(hogs=answer['hogs'])}", "", *sentence(answer, table), ""]
        yield from rows(answer, when, table)
    yield from ["", "## Each one's rule", "", "| harness | says *changed* by |", "|---|---|"]
    for name, rule in answer["rules"].items():
        yield f"| {name} | {rule} |"
    if any(row["harness"] == GATE for row in answer["comparisons"]):
        yield f"| {GATE} | fails: an increase of more than 5 % is shown |"
    yield ""


def picture(answer):
    left, cell, line, gap = 170, 62, 30, 30
    shown = list(names(answer))
    width = left + len(CONDITIONS) * (len(harnesses.SIZES) * cell + gap)
    height = 92 + line * len(shown)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
        "<title>Comparisons in which each harness said that something changed</title>",
        f'<style>{STYLE}</style><rect class="back" width="{width}" height="{height}"/>',
    ]

    def text(x, y, words, kind="", anchor="start"):
        parts.append(f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{html.escape(words)}</text>')

    for row, name in enumerate(shown):
        text(12, 85 + row * line, name)
    for number, (when, title) in enumerate(CONDITIONS.items()):
        table, start = Table(answer, when), left + number * (len(harnesses.SIZES) * cell + gap)
        text(start, 24, title.format(hogs=answer["hogs"]), "head")
        for column, size in enumerate(harnesses.SIZES):
            x = start + column * cell
            text(x + cell / 2 - 2, 50, f"+{size:g} %" if size else "same", "", "middle")
            for row, name in enumerate(shown):
                hits, of, y = table.hits(name, size), table.total(name, size), 66 + row * line
                box = f'x="{x}" y="{y}" width="{cell - 4}" height="{line - 4}" rx="3"'
                parts.append(f'<rect class="empty" {box}/>')
                if hits:
                    kind = "cell" if size else "alarm"
                    parts.append(f'<rect class="{kind}" {box} fill-opacity="{0.15 + 0.6 * hits / of:.2f}"/>')
                text(x + cell / 2 - 2, y + 18, f"{hits}/{of}" if of else "–", "", "middle")
    text(
        12,
        height - 8,
        "Red: false alarms about the same program. Blue: planted slowdowns found. Each of all comparisons.",
    )
    return "".join(parts) + "</svg>\n"


def write(answer, out):
    """Writes page and picture; their paths."""
    os.makedirs(out, exist_ok=True)
    path, drawn = os.path.join(out, "league.md"), os.path.join(out, "league.svg")
    text = BEGIN + END
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + BEGIN + "\n".join(block(answer)) + END + tail)
    with open(drawn, "w", encoding="utf-8") as file:
        file.write(picture(answer))
    return path, drawn
