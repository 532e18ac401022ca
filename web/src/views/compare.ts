import * as Plot from "@observablehq/plot";
import { type Context, typed } from "../context";
import { apart, bimodal, type Comparison, cost, type ComparisonTable, type Row } from "../data";
import { h, select } from "../dom";
import { figure, nothing } from "../figure";
import { factor, logTicks, percent, TIME } from "../format";
import { COSTS, intervals, rowPlot, type Seat } from "../rowplot";
import { spaced } from "../labels";
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

function sided(table: ComparisonTable, context: Context): Sided[] {
  const rows = (index: number): Map<string, Row> =>
    new Map(context.runs[index]?.rows.map((row) => [row.label, row] as const) ?? []);
  const [a, b] = [rows(table.a), rows(table.b)];
  return table.comparisons.map((one) => ({ ...one, by: a.get(one.a), of: b.get(one.b) }));
}

function verdict(row: Sided): string {
  if (row.verdict === null) return "no verdict";
  if (row.verdict === "same") return `same within ${percent(row.within)}`;
  return row.verdict === "slower" || row.verdict === "faster"
    ? (row.of?.quantity[row.verdict === "slower" ? "greater" : "smaller"] ?? row.verdict)
    : "inconclusive";
}

/** Of rows with modes a ratio has a range and no value: that would follow the shares of the modes. */
const ranged = (row: Sided): boolean => bimodal(row.of) || bimodal(row.by);

const ratio = (row: Sided): string =>
  ranged(row) && row.low !== null ? `${factor(row.low)} – ${factor(row.high)}` : factor(row.ratio);

/** Ratios with intervals and verdicts, as `switchcost compare` judges them. */
export function compare(context: Context): HTMLElement[] {
  const mine = context.data.tables.filter((table) => table.reference === null || table.a === context.run.index);
  if (mine.length === 0)
    return [nothing("Nothing here can be compared.", "switchcost compare A B", "switchcost report latest~1 latest")];
  const wanted = context.state.table || context.state.against;
  const chosen =
    mine.find((table) => key(table) === wanted) ??
    mine.find((table) => table.reference !== null && table.reference === wanted) ??
    mine.find((table) => table.reference === null) ??
    mine.find((table) => table.reference === context.run.data.run.reference) ??
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
function scale(rows: { ratio: number; low: number | null; high: number | null }[], width: number): Plot.ScaleOptions {
  const ends = rows
    .flatMap((row) => [row.ratio, row.low ?? row.ratio, row.high ?? row.ratio])
    .filter((value) => value > 0);
  const domain: [number, number] = [
    Math.min(0.94, ...ends.map((value) => value / 1.05)),
    Math.max(1.06, ...ends.map((value) => value * 1.05)),
  ];
  const wide = domain[1] / domain[0] > 20;
  const near = [0.1, 0.2, 0.5, 1 / 1.2, 1 / 1.1, 1 / 1.05, 1, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10];
  const inside = near.filter((value) => value >= domain[0] && value <= domain[1]);
  // 1 has a label always; the names of rows take up to half of a wide page.
  const at = (value: number): number => (Math.log(value) / Math.log(domain[1] / domain[0])) * width * 0.5;
  const outward = inside.sort((a, b) => Math.abs(Math.log(a)) - Math.abs(Math.log(b)));
  const ticks = wide ? logTicks(domain, TIME, Math.max(3, width / 90)) : spaced(outward, at, 44);
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
      rows.filter((row) => !ranged(row)),
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
  const passes = new Set(context.rows.map((row) => row.label));
  const other = context.runs[table.b];
  const all = sided(table, context).filter(
    (row) => table.b !== context.run.index || other === undefined || passes.has(row.b),
  );
  const { shown, pager } = paged(all, context);
  const rows = shown.flatMap((row, i) =>
    row.ratio !== null && row.ratio > 0 ? [{ ...row, ratio: row.ratio, key: `c${i}` }] : [],
  );
  const x = scale(rows, context.width);
  const picture =
    rows.length === 0
      ? null
      : rowPlot({
          items: rows.map((row) => ({ key: row.key, label: row.b, end: `${ratio(row)}  ${verdict(row)}` })),
          width: context.width,
          x,
          ends: COSTS,
          marks: (seat) => marked(rows, table.threshold, x.domain as [number, number], seat),
        });
  const level = all[0]?.confidence ?? null;
  const said = [
    ...table.refused.map((reason) => `No verdict: ${reason}.`),
    ...table.notes,
    ...table.unmatched.map(({ only, labels }) => `only ${only} has ${labels.join(", ")}`),
    ...table.skipped.slice(0, 50).map(([label, reason]) => `${label} is not compared: ${reason}`),
  ];
  return figure({
    id: "compare",
    title: `Ratio of costs: ${name(table, context)}`,
    caption: `Right of 1 = more expensive. Bar: interval of the ratio${level === null ? "" : `, ${Number((level * 100).toFixed(2))} % each, so that all hold together in 95 % of cases`}; shade: the row's noise floor, by which equal things differ; dashed: threshold of ${percent(table.threshold)}. Triangle: slower (of memory: larger), square: faster (smaller), circle: the same or inconclusive.`,
    command:
      table.reference === null
        ? `switchcost compare ${context.runs[table.a]?.key ?? "A"} ${context.runs[table.b]?.key ?? "B"}`
        : `${typed(context.run)}; switchcost compare '${table.reference}' '*'`,
    n: `${all.length} comparisons, each of ${all[0] ? (all[0].paired ? `about ${all[0].counts[0]} rounds, paired` : `about ${all[0].counts.join(" and ")} process runs`) : "nothing"}`,
    picture,
    extra: [chooser, pager],
    below:
      said.length > 0 &&
      h(
        "details",
        { open: table.refused.length > 0 },
        h("summary", {}, `${all.length} rows compared, ${table.skipped.length} not · what to know`),
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
        "rounds or starts",
        "verdict",
        "reason",
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
      ]),
    },
  });
}
