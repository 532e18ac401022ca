import * as Plot from "@observablehq/plot";
import { type Context, typed } from "../context";
import { byQuantity, cost, group, hardware, machineName, type Row, type Run } from "../data";
import { h } from "../dom";
import { figure, nothing, pointed } from "../figure";
import type { Quantity } from "../format";
import { logAxis, rowPlot, tamed } from "../rowplot";
import { paged, spread } from "./common";

const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye"] as const;
const COLOURS = 8;

/** Machines distinguished by symbol and colour. */
const MOST_MACHINES = 24;

interface Seen {
  nth: number;
  title: string;
  runs: Run[];
}

function machines(runs: Run[]): Map<string, Seen> {
  const found = new Map<string, Seen>();
  for (const run of runs) {
    const key = hardware(run);
    const known = found.get(key);
    if (known) known.runs.push(run);
    else
      found.set(key, {
        nth: found.size,
        title: `${String.fromCharCode(65 + (found.size % 26))}${found.size >= 26 ? Math.floor(found.size / 26) : ""}: ${machineName(run)}`,
        runs: [run],
      });
  }
  return found;
}

/** The same mechanism on many machines, or in many runs of one. */
export function compareMachines(context: Context): HTMLElement[] {
  if (context.runs.length < 2)
    return [
      nothing(
        "One run only. Others give files that name nobody, and a page of several compares them:",
        "switchcost export -o mine.jsonl",
        "switchcost report mine.jsonl theirs.jsonl",
      ),
    ];
  const all = machines(context.runs);
  const wanted = new Set(context.rows.map((row) => row.label));
  const rows = new Map<string, { row: Row; seen: Seen; key: string; run: Run }[]>();
  for (const seen of [...all.values()].slice(0, MOST_MACHINES)) {
    for (const run of seen.runs) {
      for (const row of run.rows) {
        if (!wanted.has(row.label) || row.figures.length === 0) continue;
        const mark = { row, seen, key: row.label, run };
        group(rows, row.label, mark);
      }
    }
  }
  const common = [...rows].filter(([, marks]) => marks.length > 1);
  if (common.length === 0) return [nothing("These runs have no row in common.")];
  const kinds = byQuantity(common, ([, marks]) => marks[0]!.row, context.data);
  return kinds.map(([quantity, rows]) => one(context, rows, quantity, all));
}

function one(
  context: Context,
  all: [string, { row: Row; seen: Seen; key: string; run: Run }[]][],
  quantity: Quantity,
  machines: Map<string, Seen>,
): HTMLElement {
  const { shown, pager } = paged(all, context);
  const marks = shown.flatMap(([, marks]) => marks);
  const dots = marks.flatMap((mark) => mark.row.figures.map((value) => ({ ...mark, value })));
  const several = machines.size > 1;
  const paint = (mark: { seen: Seen }): string => `var(--f${(mark.seen.nth + 1) % COLOURS})`;
  const symbol = (mark: { seen: Seen }): (typeof SYMBOLS)[number] =>
    SYMBOLS[mark.seen.nth % SYMBOLS.length] ?? "circle";
  const rowsOf = (of: { row: Row }[]): Row[] => of.map((mark) => mark.row);
  const picture = rowPlot({
    items: shown.map(([label, of]) => ({ key: label, label, end: spread(rowsOf(of)) })),
    width: context.width,
    x: logAxis(
      marks.flatMap((mark) => mark.row.figures),
      quantity,
      context.width,
    ),
    marks: (seat) => [
      Plot.dot(dots, {
        y: "key",
        x: "value",
        r: 4,
        symbol,
        stroke: paint,
        strokeWidth: 1.8,
        fill: paint,
        fillOpacity: 0.25,
        dy: seat.dy,
      }),
    ],
  });
  const byLabel = new Map(shown);
  const tip = pointed(picture, "right = slower · at the end: slowest ÷ fastest", (key) => {
    const of = byLabel.get(key);
    return of && `${key}: ${of.map((mark) => `${mark.seen.title.split(":")[0]} ${cost(mark.row)}`).join(" · ")}`;
  });
  const legend = h(
    "ul",
    { class: "legend" },
    ...[...machines.values()]
      .slice(0, MOST_MACHINES)
      .map((seen) =>
        h(
          "li",
          {},
          swatch(symbol({ seen }), paint({ seen })),
          `${seen.title} (${seen.runs.length} ${seen.runs.length === 1 ? "run" : "runs"})`,
        ),
      ),
  );
  const heads = [...machines.values()].slice(0, 12);
  return figure({
    id: `machines-${quantity.name}`,
    title: several ? `${machines.size} machines` : `${context.runs.length} runs of one machine`,
    caption: `One mark for each run: medians, or each mode of a bimodal row. At the end: slowest ÷ fastest. Machines differ in more than their hardware: see their facts under Machine.${machines.size > MOST_MACHINES ? ` The first ${MOST_MACHINES} of ${machines.size} machines.` : ""}`,
    command: [...new Set(context.runs.map(typed))].slice(0, 4).join("; "),
    n: `${marks.length} rows of ${context.runs.length} runs`,
    picture,
    extra: [several && legend, tip, pager],
    table: {
      head: ["mechanism", ...heads.map((seen) => seen.title), "slowest ÷ fastest"],
      rows: shown.map(([label, of]) => [
        label,
        ...heads.map(
          (seen) =>
            of
              .filter((mark) => mark.seen === seen)
              .slice(0, 6)
              .map((mark) => cost(mark.row))
              .join(", ") || "–",
        ),
        spread(rowsOf(of)),
      ]),
    },
  });
}

/** A symbol as it is drawn, for the list of machines. */
function swatch(symbol: (typeof SYMBOLS)[number], colour: string): Element {
  const picture = Plot.dot([0], {
    symbol,
    r: 5,
    stroke: colour,
    fill: colour,
    fillOpacity: 0.25,
    frameAnchor: "middle",
  }).plot({ width: 18, height: 18, margin: 0, axis: null, className: "plot" });
  tamed(picture).setAttribute("aria-hidden", "true");
  return picture;
}
