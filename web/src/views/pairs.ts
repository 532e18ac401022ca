import * as Plot from "@observablehq/plot";
import { type Context, counted, typed } from "../context";
import { type Cell, matrices, type Matrix, positive } from "../data";
import { figure, nothing } from "../figure";
import { duration } from "../format";
import { drawn } from "../rowplot";

/** Pictures in one view: more would not be looked at, and keep a browser busy. */
const MOST_MATRICES = 24;

/** Which two CPUs a switch goes between, and what it costs. */
export function pairs(context: Context): HTMLElement[] {
  const all = matrices(context.run, context.rows);
  if (all.length === 0)
    return [
      nothing(
        "No rows here differ in their pair of CPUs only. A map of them comes from:",
        "switchcost sweep cpus PATTERN",
      ),
    ];
  const more =
    all.length > MOST_MATRICES
      ? [nothing(`The first ${MOST_MATRICES} of ${all.length} maps; filters show others.`)]
      : [];
  return [...all.slice(0, MOST_MATRICES).map((matrix) => one(context, matrix)), ...more];
}

function one(context: Context, { label, cells }: Matrix): HTMLElement {
  const found = cells.filter((cell) => positive(cell.median) !== null);
  // A pair is measured in one order, holds for the other too, and is drawn paler there.
  const mirrored = found.filter((cell) => cell.a !== cell.b).map((cell) => ({ ...cell, a: cell.b, b: cell.a }));
  const cpus = [...new Set(found.flatMap((cell) => [cell.a, cell.b]))].sort((a, b) => a - b);
  const side = Math.max(140, Math.min(context.width, 90 + cpus.length * 46));
  const cost = (cell: Cell): number => cell.median ?? 0;
  const words = cpus.length * 46 <= context.width - 60 || cpus.length <= 6;
  const [least, most] = found.reduce(
    ([low, high], cell) => [Math.min(low, cost(cell)), Math.max(high, cost(cell))],
    [Infinity, 0],
  );
  const middle = Math.sqrt(least) * Math.sqrt(most);
  const picture =
    found.length === 0
      ? null
      : drawn({
          width: side,
          height: side,
          marginLeft: 52,
          marginTop: 46,
          marginRight: 10,
          marginBottom: 10,
          x: { type: "band", domain: cpus, label: "CPU of the second context", axis: "top", tickSize: 0 },
          y: { type: "band", domain: cpus, label: "CPU of the first", tickSize: 0 },
          color: { type: "log", scheme: "viridis", reverse: true },
          style: { fontSize: "12px" },
          marks: [
            Plot.cell(found, {
              x: "b",
              y: "a",
              fill: cost,
              inset: 1,
              title: (cell: Cell) => `CPU ${cell.a} and ${cell.b}: ${duration(cell.median)}`,
            }),
            Plot.cell(mirrored, { x: "b", y: "a", fill: cost, fillOpacity: 0.6, inset: 1 }),
            words
              ? Plot.text(found, {
                  x: "b",
                  y: "a",
                  text: (cell: Cell) => duration(cell.median),
                  fill: (cell: Cell) => (found.length > 1 && cost(cell) > middle ? "white" : "black"),
                  fontSize: 11,
                } as Plot.TextOptions)
              : null,
          ],
        });
  const measured = new Set(cells.map((cell) => cell.result));
  return figure({
    id: `pairs-${label.replace(/\W/g, "-")}`,
    title: `CPU pairs: ${label}`,
    caption:
      "One cell a pair of CPUs, darker is more expensive; the scale is logarithmic. Paler cells mirror a pair that was measured in the other order.",
    command: typed(context.run),
    n: counted(context.rows.filter((row) => measured.has(row.label))),
    picture,
    table: {
      head: ["first CPU", "second CPU", "relation", "median", "95 % interval", "verdict"],
      rows: cells.map((cell) => [
        String(cell.a),
        String(cell.b),
        cell.relation ?? "unknown",
        duration(cell.median),
        cell.low === null ? "–" : `${duration(cell.low)} – ${duration(cell.high)}`,
        cell.verdict,
      ]),
    },
  });
}
