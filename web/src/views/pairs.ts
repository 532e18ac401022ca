import * as Plot from "@observablehq/plot";
import { type Context, counted, typed } from "../context";
import { bimodal, brief, type Cell, cost, matrices, type Matrix, positive } from "../data";
import { h } from "../dom";
import { figure, nothing } from "../figure";
import { duration } from "../format";
import { drawn } from "../rowplot";

/** Pictures in one view: more would not be looked at, and keep a browser busy. */
const MOST_MATRICES = 24;

/** Side of a cell with a figure, pixels. */
const SIDE = 54;

/** From near to far. */
const NEAR = ["same_cpu", "smt_sibling", "same_cache", "same_socket"];

/** Share of the colour in the palest cell and in the strongest: figures stay readable on both, by day and by night. */
const [PALEST, STRONGEST] = [8, 50];

/** Which two CPUs a switch goes between, and what it costs. */
export function pairs(context: Context): HTMLElement[] {
  const all = matrices(context.run, context.rows);
  if (all.length === 0)
    return [
      nothing("No rows here differ only in their pair of CPUs. To map the pairs:", "switchcost sweep cpus PATTERN"),
    ];
  const more =
    all.length > MOST_MATRICES
      ? [nothing(`The first ${MOST_MATRICES} of ${all.length} maps; filters show others.`)]
      : [];
  return [...all.slice(0, MOST_MATRICES).map((matrix) => one(context, matrix)), ...more];
}

/** CPUs in groups of those that share the most, siblings beside one another. */
export function ordered(cells: Pick<Cell, "a" | "b" | "relation">[]): { cpu: number; place: number[] }[] {
  const cpus = [...new Set(cells.flatMap((cell) => [cell.a, cell.b]))].sort((a, b) => a - b);
  // For each nearness the least CPU that one is connected with by relations at least as near.
  const leasts = NEAR.slice(1).map((_, level) => {
    const near = NEAR.slice(0, level + 2);
    const least = new Map(cpus.map((cpu) => [cpu, cpu]));
    const root = (cpu: number): number => {
      const up = least.get(cpu) ?? cpu;
      return up === cpu ? cpu : root(up);
    };
    for (const { a, b, relation } of cells) {
      if (relation === null || !near.includes(relation)) continue;
      const [x, y] = [root(a), root(b)];
      least.set(Math.max(x, y), Math.min(x, y));
    }
    return root;
  });
  const found = cpus.map((cpu) => ({ cpu, place: [...leasts].reverse().map((root) => root(cpu)) }));
  const key = ({ cpu, place }: { cpu: number; place: number[] }): number[] => [...place, cpu];
  return found.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    const i = x.findIndex((value, i) => value !== y[i]);
    return i < 0 ? 0 : x[i]! - y[i]!;
  });
}

/** Names of a band axis, with gaps where the next CPU shares less: none between siblings. */
function bands(all: { cpu: number; place: number[] }[]): string[] {
  return all.flatMap(({ cpu, place }, i) => {
    const before = all[i - 1];
    // The last place is that of siblings, those before it are caches and sockets.
    const apart = before !== undefined && place.slice(0, -1).some((value, i) => value !== before.place[i]);
    return apart ? [`space${i}`, String(cpu)] : [String(cpu)];
  });
}

const strength = (share: number): string =>
  `color-mix(in oklab, var(--slower) ${Math.round(PALEST + share * (STRONGEST - PALEST))}%, var(--paper))`;

function one(context: Context, { label, cells }: Matrix): HTMLElement {
  const rows = new Map(context.run.rows.map((row) => [row.label, row]));
  const mixed = (cell: Cell): boolean => bimodal(rows.get(cell.result));
  const told = (cell: Cell): string => (mixed(cell) ? cost(rows.get(cell.result)) : duration(cell.median));
  const short = (cell: Cell): string => (mixed(cell) ? brief(rows.get(cell.result)!) : told(cell));
  const found = cells.filter((cell) => positive(cell.median) !== null);
  // Grey: bimodal. A pair is measured in one order and holds for the other too.
  const both = [
    ...found,
    ...found.filter((cell) => cell.a !== cell.b).map((cell) => ({ ...cell, a: cell.b, b: cell.a })),
  ];
  const domain = bands(ordered(cells));
  const words = domain.length * SIDE <= context.width - 60 || domain.length <= 6;
  const side = Math.min(context.width, 64 + domain.length * (words ? SIDE : 22));
  const ns = (cell: Cell): number => cell.median ?? 0;
  const single = found.filter((cell) => !mixed(cell));
  const [least, most] = single.reduce(
    ([low, high], cell) => [Math.min(low, ns(cell)), Math.max(high, ns(cell))],
    [Infinity, 0],
  );
  const share = (ns: number): number => (most > least ? Math.log(ns / least) / Math.log(most / least) : 0);
  const title = (cell: Cell): string =>
    `CPU ${cell.a} and ${cell.b}${cell.relation ? ` (${cell.relation.replaceAll("_", " ")})` : ""}: ${told(cell)}`;
  const name = (value: string): string => (value.startsWith("space") ? "" : value);
  const picture =
    found.length === 0
      ? null
      : drawn({
          width: Math.max(160, side),
          height: Math.max(150, side),
          marginLeft: 44,
          marginTop: 44,
          marginRight: 12,
          marginBottom: 10,
          x: { type: "band", domain, axis: "top", tickSize: 0, label: null, tickFormat: name },
          y: { type: "band", domain, tickSize: 0, label: null, tickFormat: name },
          color: { type: "identity" },
          style: { fontSize: "12px", overflow: "visible" },
          marks: [
            Plot.text(["CPU"], { frameAnchor: "top-left", dx: -38, dy: -18, fill: "var(--faint)" }),
            Plot.cell(both, {
              x: (cell: Cell) => String(cell.b),
              y: (cell: Cell) => String(cell.a),
              fill: (cell: Cell) => (mixed(cell) ? "var(--pale)" : strength(share(ns(cell)))),
              inset: 1,
              title,
            }),
            words
              ? Plot.text(both, {
                  x: (cell: Cell) => String(cell.b),
                  y: (cell: Cell) => String(cell.a),
                  text: (cell: Cell) => short(cell).replaceAll(" ", "\n"),
                  fill: "var(--text)",
                  fontSize: 11,
                } as Plot.TextOptions)
              : null,
          ],
        });
  for (const rect of picture?.querySelectorAll<SVGElement>("rect") ?? []) {
    const fill = rect.getAttribute("fill");
    // `color-mix` is known to style sheets, not to presentation attributes of every browser.
    if (fill?.startsWith("color-mix")) rect.style.fill = fill;
  }
  const measured = new Set(cells.map((cell) => cell.result));
  return figure({
    id: `pairs-${label.replace(/\W/g, "-")}`,
    title: `CPU pairs: ${label}`,
    caption:
      "One cell per pair of CPUs; the stronger, the slower, on a logarithmic scale. Siblings are neighbours; a gap separates CPUs that share neither cache nor core. Grey: bimodal. Each pair is measured in one order and shown in both.",
    command: typed(context.run),
    n: counted(context.rows.filter((row) => measured.has(row.label))),
    picture,
    extra: [single.length > 0 && scale(least, most)],
    table: {
      head: ["first CPU", "second CPU", "relation", "median", "95 % interval", "verdict"],
      rows: cells.map((cell) => [
        String(cell.a),
        String(cell.b),
        cell.relation ?? "unknown",
        told(cell),
        cell.low === null || mixed(cell) ? "–" : `${duration(cell.low)} – ${duration(cell.high)}`,
        cell.verdict,
      ]),
    },
  });
}

/** What the colours mean. */
function scale(least: number, most: number): HTMLElement {
  const steps = most > least ? [0, 0.25, 0.5, 0.75, 1] : [0];
  return h(
    "p",
    { class: "scale" },
    ...steps.map((share) => {
      const step = h("span", {}, duration(least * (most / least) ** share));
      step.style.background = strength(share);
      return step;
    }),
  );
}
