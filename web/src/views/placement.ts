import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import { group, type Row } from "../data";
import { h } from "../dom";
import { figure, nothing, pointed } from "../figure";
import { amount, factor } from "../format";
import { logAxis, rowPlot } from "../rowplot";
import { paged } from "./common";

/** Placements as they are drawn: full, half, hollow. */
const PLACES: [id: string, title: string, symbol: "circle" | "square" | "triangle"][] = [
  ["one_cpu", "one CPU", "circle"],
  ["two_cpus", "two CPUs", "square"],
  ["free", "free: the scheduler's choice", "triangle"],
];

interface Placed {
  label: string;
  rows: Row[];
}

/** Rows that differ in their placement only, where there are at least two of them. */
export function placed(rows: Row[]): Placed[] {
  const found = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.median === null || !PLACES.some(([id]) => id === row.placement)) continue;
    const { mechanism, experiment, timing, contexts } = row.result;
    // What only one placement can have, such as all OS threads, does not keep the rows apart.
    group(found, JSON.stringify([mechanism, row.probe, experiment, timing, contexts]), row);
  }
  return [...found.values()]
    .filter((of) => new Set(of.map((row) => row.placement)).size > 1)
    .map((of) => ({ label: of.find((row) => row.placement === "one_cpu")?.label ?? of[0]!.label, rows: of }));
}

/** One line per mechanism with a mark for each placement. */
export function placement(context: Context): HTMLElement[] {
  const all = placed(context.rows);
  if (all.length === 0)
    return [
      nothing(
        "No mechanism here was measured in two placements. They are compared by:",
        "switchcost run thread process --placement one_cpu,two_cpus,free",
      ),
    ];
  return (["time", "memory"] as const).flatMap((quantity) => {
    const of = all.filter(({ rows }) => rows[0]!.quantity === quantity);
    return of.length > 0 ? [one(context, of, quantity)] : [];
  });
}

function one(context: Context, all: Placed[], quantity: "time" | "memory"): HTMLElement {
  const { shown, pager } = paged(all, context);
  const marks = shown.flatMap(({ rows }, i) => rows.map((row) => ({ row, key: `p${i}`, median: row.median! })));
  const paint = (mark: { row: Row }): string => colour(mark.row.family, context.data);
  const spread = (rows: Row[]): number =>
    Math.max(...rows.map((row) => row.median!)) / Math.min(...rows.map((row) => row.median!));
  const lines = shown.map(({ rows }, i) => ({
    key: `p${i}`,
    low: Math.min(...rows.map((row) => row.median!)),
    high: Math.max(...rows.map((row) => row.median!)),
  }));
  const picture = rowPlot({
    items: shown.map(({ label, rows }, i) => ({ key: `p${i}`, label, end: factor(spread(rows)) })),
    width: context.width,
    x: logAxis(
      marks.flatMap(({ row }) => [row.median, row.low, row.high]),
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
        marks.filter(({ row }) => row.low !== null && row.high !== null && row.result.modes.length === 0),
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
      ...PLACES.map(([id, , symbol]) =>
        Plot.dot(
          marks.filter((mark) => mark.row.placement === id),
          {
            y: "key",
            x: "median",
            r: 5,
            symbol,
            fill: id === "one_cpu" ? paint : "var(--paper)",
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
    return (
      found &&
      `${found.label}: ${found.rows.map((row) => `${row.placement} ${amount(row.median, quantity)}`).join(" · ")}`
    );
  });
  const legend = h(
    "p",
    { class: "marks" },
    PLACES.map(([id, title]) => `${{ one_cpu: "●", two_cpus: "□", free: "△" }[id]} ${title}`).join("   "),
  );
  return figure({
    id: `placement-${quantity}`,
    title: "One CPU, two CPUs, or where the scheduler likes",
    caption:
      "Medians with 95 % intervals. Two idle CPUs are often the slowest: the second must be woken. At the end: slowest ÷ fastest.",
    command: typed(context.run),
    n: counted(marks.map((mark) => mark.row)),
    picture,
    extra: [legend, tip, pager],
    table: {
      head: ["mechanism", ...PLACES.map(([, title]) => title), "slowest ÷ fastest"],
      rows: shown.map(({ label, rows }) => [
        label,
        ...PLACES.map(
          ([id]) =>
            rows
              .filter((row) => row.placement === id)
              .map((row) => amount(row.median, quantity))
              .join(", ") || "–",
        ),
        factor(spread(rows)),
      ]),
    },
  });
}
