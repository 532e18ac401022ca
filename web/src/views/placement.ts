import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import { byQuantity, cost, eachFigure, type PageData, type Row } from "../data";
import { h } from "../dom";
import { figure, nothing, pointed } from "../figure";
import type { Quantity } from "../format";
import { logAxis, rowPlot } from "../rowplot";
import { paged, spread, without } from "./common";

/** How placements are drawn, in their order: the first is filled. */
const SYMBOLS = [
  ["circle", "●"],
  ["square", "□"],
  ["triangle", "△"],
  ["diamond", "◇"],
  ["star", "☆"],
] as const;

const symbolOf = (nth: number): (typeof SYMBOLS)[number] => SYMBOLS[nth % SYMBOLS.length] ?? SYMBOLS[0];

interface Placed {
  label: string;
  rows: Row[];
}

/** Rows that differ in their placement only: not in a parameter, nor in any other part of their labels. */
function groups(rows: Row[], { placements }: PageData): Placed[] {
  const names = placements.map(({ name }) => name);
  const found = new Map<string, Placed>();
  for (const row of rows) {
    if (row.figures.length === 0 || !names.includes(row.placement)) continue;
    const label = without(row.label, names);
    const { experiment, timing, contexts, parameters } = row.result;
    const key = JSON.stringify([label, row.probe, experiment, timing, contexts, Object.entries(parameters).sort()]);
    const known = found.get(key);
    if (known) known.rows.push(row);
    else found.set(key, { label, rows: [row] });
  }
  return [...found.values()];
}

const several = ({ rows }: Placed): boolean => new Set(rows.map((row) => row.placement)).size > 1;

/** Those with at least two placements. */
export const placed = (rows: Row[], data: PageData): Placed[] => groups(rows, data).filter(several);

/** The command that measures these mechanisms in every placement. */
export const placementsOf = (mechanisms: string, { placements }: PageData): string =>
  `switchcost run ${mechanisms} --placement ${placements.map(({ name }) => name).join(",")}`;

/** One line per mechanism with a mark for each placement. */
export function placement(context: Context): HTMLElement[] {
  const all = placed(context.rows, context.data);
  if (all.length === 0)
    return [
      nothing(
        "No mechanism here was measured in two placements. They are compared by:",
        placementsOf("thread process", context.data),
      ),
    ];
  return byQuantity(all, ({ rows }) => rows[0]!, context.data).map(([quantity, of]) => one(context, of, quantity));
}

function one(context: Context, all: Placed[], quantity: Quantity): HTMLElement {
  const { shown, pager } = paged(all, context);
  const { placements } = context.data;
  const alone = groups(context.rows, context.data)
    .filter((of) => !several(of) && of.rows[0]!.quantity === quantity && of.rows[0]!.placement !== placements[0]!.name)
    .map(({ rows }) => rows[0]!.label);
  const marks = shown.flatMap(({ rows }, i) => rows.map((row) => ({ row, key: `p${i}` })));
  const paint = (mark: { row: Row }): string => colour(mark.row.family, context.data);
  const dots = shown.flatMap(({ rows }, i) => eachFigure(rows).map((dot) => ({ ...dot, key: `p${i}` })));
  const lines = shown.map(({ rows }, i) => ({
    key: `p${i}`,
    low: Math.min(...rows.flatMap((row) => row.figures)),
    high: Math.max(...rows.flatMap((row) => row.figures)),
  }));
  const picture = rowPlot({
    items: shown.map(({ label, rows }, i) => ({ key: `p${i}`, label, end: spread(rows) })),
    width: context.width,
    x: logAxis(
      marks.flatMap(({ row }) => [...row.figures, row.low, row.high]),
      quantity,
      context.width,
    ),
    marks: (seat) => [
      Plot.link(lines, {
        y: "key",
        x1: "low",
        x2: "high",
        stroke: "var(--faint)",
        strokeDasharray: "2,3",
        dy: seat.dy,
      }),
      Plot.link(
        marks.filter(({ row }) => row.low !== null && row.high !== null),
        {
          y: "key",
          x1: ({ row }: { row: Row }) => row.low,
          x2: ({ row }: { row: Row }) => row.high,
          stroke: paint,
          strokeWidth: 4,
          strokeOpacity: 0.45,
          strokeLinecap: "round",
          dy: seat.dy,
        } as Plot.LinkOptions,
      ),
      ...placements.map(({ name }, nth) =>
        Plot.dot(
          dots.filter((dot) => dot.row.placement === name),
          {
            y: "key",
            x: "value",
            r: 5,
            symbol: symbolOf(nth)[0],
            fill: nth === 0 ? paint : "var(--paper)",
            stroke: paint,
            strokeWidth: 1.8,
            dy: seat.dy,
          },
        ),
      ),
    ],
  });
  const keyed = new Map(shown.map(({ label, rows }, i) => [`p${i}`, { label, rows }]));
  const tip = pointed(picture, "right = slower · at the end: slowest ÷ fastest", (key) => {
    const found = keyed.get(key);
    return found && `${found.label}: ${found.rows.map((row) => `${row.placement} ${cost(row)}`).join(" · ")}`;
  });
  const legend = h(
    "p",
    { class: "marks" },
    placements.map(({ title }, nth) => `${symbolOf(nth)[1]} ${title}`).join("   "),
  );
  return figure({
    id: `placement-${quantity.name}`,
    title: "Where the contexts run",
    caption:
      "Medians with 95 % intervals, or each mode of a bimodal row. Two idle CPUs are often the slowest: the second must be woken. At the end: slowest ÷ fastest.",
    command: typed(context.run),
    n: counted(marks.map((mark) => mark.row)),
    picture,
    extra: [legend, tip, pager],
    below:
      alone.length > 0 &&
      h("p", { class: "fine" }, `Measured in one placement only: ${alone.slice(0, 40).join(", ")}.`),
    table: {
      head: ["mechanism", ...placements.map(({ title }) => title), "slowest ÷ fastest"],
      rows: shown.map(({ label, rows }) => [
        label,
        ...placements.map(
          ({ name }) =>
            rows
              .filter((row) => row.placement === name)
              .map(cost)
              .join(", ") || "–",
        ),
        spread(rows),
      ]),
    },
  });
}
