import * as Plot from "@observablehq/plot";
import { type Context, typed } from "../context";
import {
  apart,
  bimodal,
  type Comparison,
  type ComparisonTable,
  cost,
  type PageData,
  type Row,
  type Run,
} from "../data";
import { h, select } from "../dom";
import { figure, nothing } from "../figure";
import { factor, logTicks, percent, TIME } from "../format";
import { COSTS, intervals, rowPlot, type Seat } from "../rowplot";
import { paged } from "./common";

const COLOURS: Record<string, string> = {
  slower: "var(--slower)",
  faster: "var(--faster)",
  same: "var(--text)",
  cannot_tell: "var(--faint)",
};

function name(table: ComparisonTable, context: Context): string {
  const [a, b] = [context.runs[table.a], context.runs[table.b]];
  if (table.reference !== null)
    return `rows against ${table.reference}${context.runs.length > 1 && a ? ` (${a.title})` : ""}`;
  if (!a || !b) return "?";
  const [as, bs] = apart(a, b);
  return `${bs} against ${as}`;
}

/** What a comparison is called in the address. */
const key = ({ a, b, reference }: ComparisonTable): string => `${a}~${b}~${reference ?? ""}`;

/** A comparison with the rows that it is of. */
interface Sided extends Comparison {
  of: Row | undefined;
  by: Row | undefined;
}

/** In the order of the rows of B. */
function sided(table: ComparisonTable, context: Context): Sided[] {
  const rows = (index: number): Map<string, Row> =>
    new Map(context.runs[index]?.rows.map((row) => [row.label, row] as const) ?? []);
  const [a, b] = [rows(table.a), rows(table.b)];
  const place = new Map([...b.keys()].map((label, nth) => [label, nth]));
  return table.comparisons
    .map((one) => ({ ...one, by: a.get(one.a), of: b.get(one.b) }))
    .sort((one, other) => (place.get(one.b) ?? 0) - (place.get(other.b) ?? 0));
}

function verdict(row: Sided): string {
  if (row.verdict === null) return "no verdict";
  if (row.verdict === "same") return `same within ${percent(row.within)}`;
  return row.verdict === "slower" || row.verdict === "faster"
    ? (row.of?.quantity[row.verdict === "slower" ? "greater" : "smaller"] ?? row.verdict)
    : "inconclusive";
}

/** What limits either side, each once. */
const limits = ({ of, by }: Sided): string =>
  [...new Set([of, by].flatMap((row) => row?.detail.limits ?? []))].join(", ");

/** Of rows with modes a ratio has a range and no value: that would follow the shares of the modes. */
const ranged = (row: Sided): boolean => bimodal(row.of) || bimodal(row.by);

const ratio = (row: Sided): string =>
  ranged(row) && row.low !== null ? `${factor(row.low)} – ${factor(row.high)}` : factor(row.ratio);

/** `3 of 29 rows cost more, 1 costs less; 20 cost the same, of 5 it is not known.` */
function answer(all: Sided[], table: ComparisonTable): string {
  if (table.refused.length > 0) return `No verdict: ${table.refused.join("; ")}.`;
  const number = (word: string): number => all.filter(({ verdict }) => verdict === word).length;
  const [slower, faster, same] = ["slower", "faster", "same"].map(number) as [number, number, number];
  const costs = (count: number): string => (count === 1 ? "costs" : "cost");
  const parts = [
    slower > 0 && `${slower} ${costs(slower)} more`,
    faster > 0 && `${faster} ${costs(faster)} less`,
    same > 0 && `${same} ${costs(same)} the same`,
    slower + faster + same < all.length && `${all.length - slower - faster - same} inconclusive`,
  ].filter(Boolean);
  return `Of ${all.length} ${all.length === 1 ? "row" : "rows"}, ${parts.join(", ")}.`;
}

/** Tables that say anything: of two runs without a row in common there is nothing to say. */
export const tablesOf = (run: Run, data: PageData): ComparisonTable[] =>
  data.tables.filter(
    ({ a, reference, comparisons, refused, skipped }) =>
      (reference === null || a === run.index) && comparisons.length + refused.length + skipped.length > 0,
  );

/** Ratios with intervals and verdicts, as `switchcost compare` judges them. */
export function compare(context: Context): HTMLElement[] {
  const mine = tablesOf(context.run, context.data);
  if (mine.length === 0)
    return [nothing("Nothing here can be compared.", "switchcost compare A B", "switchcost report latest~1 latest")];
  const wanted = context.state.table || context.state.against;
  const { reference } = context.run.data.run;
  // Of runs those with the most rows in common, the first of equal ones.
  const ofRuns = mine.filter((table) => table.reference === null && table.comparisons.length > 0);
  const chosen =
    mine.find((table) => key(table) === wanted) ??
    mine.find((table) => table.reference !== null && table.reference === wanted) ??
    ofRuns.sort((a, b) => b.comparisons.length - a.comparisons.length)[0] ??
    mine.find((table) => table.reference !== null && table.reference === reference) ??
    mine.find((table) => table.comparisons.length > 0) ??
    mine[0]!;
  const chooser = select(
    "table",
    "Comparison",
    mine.slice(0, 1000).map((table) => [key(table), name(table, context)]),
    key(chosen),
    (table) => context.go({ table, page: 0 }),
  );
  return [one(context, chosen, chooser)];
}

/** The axis of ratios: round ones on either side of 1. */
function scale(rows: Sided[], width: number): Plot.ScaleOptions {
  const ends = rows
    .flatMap((row) => [row.ratio, row.low, row.high])
    .filter((value) => value !== null && value > 0) as number[];
  const domain: [number, number] = [
    Math.min(0.94, ...ends.map((value) => value / 1.05)),
    Math.max(1.06, ...ends.map((value) => value * 1.05)),
  ];
  const wide = domain[1] / domain[0] > 20;
  const near = [0.1, 0.2, 0.5, 1 / 1.2, 1 / 1.1, 1 / 1.05, 1, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10];
  const inside = near.filter((value) => value >= domain[0] && value <= domain[1]);
  // The nearest to 1 first: where there is no room for all, these have their labels.
  const outward = inside.sort((a, b) => Math.abs(Math.log(a)) - Math.abs(Math.log(b)));
  const ticks = wide ? logTicks(domain, TIME, Math.max(3, width / 90)) : outward;
  return {
    type: "log",
    domain,
    ticks,
    tickFormat: ((value: number) => factor(value).replace(/\.0+$/, "")) as (x: unknown) => string,
    label: null,
  } as Plot.ScaleOptions;
}

/** Noise floor, threshold, interval and ratio of each row. */
function marked(
  rows: (Sided & { key: string })[],
  threshold: number,
  [from, to]: [number, number],
  seat: Seat,
): Plot.Markish[] {
  const paint = (row: Sided): string => COLOURS[row.verdict ?? ""] ?? "var(--faint)";
  return [
    // Each row has its own noise floor.
    intervals(
      rows.map(({ key, noise_floor: floor }) => ({
        key,
        low: Math.max(from, 1 / (1 + floor)),
        high: Math.min(to, 1 + floor),
      })),
      "var(--text)",
      { strokeWidth: 11, strokeOpacity: 0.14, strokeLinecap: "butt", dy: seat.dy },
    ),
    Plot.ruleX([1 / (1 + threshold), 1 + threshold], { stroke: "var(--faint)", strokeDasharray: "2,4" }),
    Plot.ruleX([1], { stroke: "var(--text)" }),
    intervals(rows, paint, { dy: seat.dy }),
    Plot.dot(
      rows.filter((row) => !ranged(row) && row.ratio !== null),
      {
        y: "key",
        x: "ratio",
        r: 4.5,
        fill: paint,
        symbol: (row: Sided) =>
          row.verdict === "slower" ? "triangle" : row.verdict === "faster" ? "square" : "circle",
        dy: seat.dy,
      },
    ),
  ];
}

function one(context: Context, table: ComparisonTable, chooser: HTMLElement): HTMLElement {
  const other = context.runs[table.b];
  const passing = new Set(other?.rows.filter(context.passes).map((row) => row.label));
  const all = sided(table, context).filter((row) => other === undefined || passing.has(row.b));
  if (all.length === 0) {
    const skipped = table.skipped.slice(0, 50).map(([label, reason]) => `${label}: ${reason}`);
    const why =
      table.comparisons.length > 0 ? ["No row of this comparison passes the filters."] : [...table.refused, ...skipped];
    return h("div", { class: "nothing" }, chooser, ...why.map((text) => h("p", {}, text)));
  }
  const { shown, pager } = paged(all, context);
  const rows = shown.map((row, i) => ({ ...row, key: `c${i}` }));
  const known = ({ ratio, low }: Sided): boolean => (ratio ?? low ?? 0) > 0;
  const drawn = rows.filter(known);
  const x = scale(drawn, context.width);
  const picture =
    rows.length === 0
      ? null
      : rowPlot({
          items: rows.map((row) => ({
            key: row.key,
            label: row.b,
            // Without a ratio or an interval there is nothing to draw, and the reason stands there.
            ...(known(row)
              ? { end: `${ratio(row)}  ${verdict(row)}  ${limits(row)}`.trimEnd(), short: verdict(row) }
              : { words: `${verdict(row)}: ${row.reason}` }),
          })),
          width: context.width,
          x,
          ends: COSTS,
          marks: (seat) => marked(drawn, table.threshold, x.domain as [number, number], seat),
        });
  const level = all[0]?.confidence ?? null;
  const said = [
    ...table.notes,
    ...table.unmatched.map(({ only, labels }) => `only ${only} has ${labels.join(", ")}`),
    ...table.skipped.slice(0, 50).map(([label, reason]) => `${label} is not compared: ${reason}`),
  ];
  const counts = [...new Set(all[0]?.counts ?? [])].join(" and ");
  const of = all[0]?.paired ? `about ${counts} rounds, paired` : `about ${counts} process runs a side`;
  return figure({
    id: "compare",
    title: `Ratio of costs: ${name(table, context)}`,
    caption: `Right of ×1: B costs more. Bar: ${level === null ? "interval" : `${Number((level * 100).toFixed(2))} % interval`} of the ratio, so that all bars hold together in 95 % of cases; shade: noise floor of the row; dotted: threshold of ${percent(table.threshold)}. Triangle: slower, square: faster, circle: the same or inconclusive. A bimodal row has a bar only.`,
    command:
      table.reference === null
        ? `switchcost compare ${context.runs[table.a]?.key ?? "A"} ${context.runs[table.b]?.key ?? "B"}`
        : `${typed(context.run)}; switchcost compare '${table.reference}' '*'`,
    n: `${all.length} ${all.length === 1 ? "comparison" : "comparisons"}, each of ${of}`,
    picture,
    extra: [chooser, h("p", { class: "sentence" }, answer(all, table)), pager],
    below:
      said.length > 0 &&
      h(
        "details",
        {},
        h(
          "summary",
          {},
          `Notes on this comparison${table.skipped.length > 0 ? `, and ${table.skipped.length} rows without one` : ""}`,
        ),
        h("ul", { class: "said" }, ...said.map((text) => h("li", {}, text))),
      ),
    table: {
      head: [
        "B",
        "A",
        "B costs",
        "A costs",
        "ratio",
        "interval",
        "noise floor",
        "smallest detectable",
        "rounds or process runs",
        "verdict",
        "reason",
        "limits",
      ],
      rows: shown.map((row) => [
        row.b,
        row.a,
        cost(row.of),
        cost(row.by),
        row.ratio === null ? "–" : ranged(row) ? "bimodal" : factor(row.ratio),
        row.low === null ? "–" : `${factor(row.low)} – ${factor(row.high)}`,
        percent(row.noise_floor),
        percent(row.smallest_detectable),
        row.counts.join(" and "),
        verdict(row),
        row.reason,
        limits(row),
      ]),
    },
  });
}
