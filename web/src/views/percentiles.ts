import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import { bimodal, cost, experimentOf, group, measured, positive, type Row, type Run } from "../data";
import { h } from "../dom";
import { figure, nothing, pointed } from "../figure";
import { amount, type Quantity, thousands } from "../format";
import { intervals, logAxis, NARROW, rowAt, rowPlot, type Seat } from "../rowplot";
import { notes, paged, shared, without, words } from "./common";

/** Shares of a row's units, by the names that the host gives them. */
const SHARES = ["p50", "p90", "p99", "p99.9"];
const LONGEST = "longest";

/** Pixels: of the marks' names, of the fullest bar, from one interval to the next below it. */
const NAMES = 13;
const BARS = 28;
const LANE = 6;

/** Width of a character of the marks' names. */
const CHARACTER = 5.6;

/** Rows with a figure for each unit come from one question to their mechanisms. */
const question = (row: Row): string => `${row.experiment} ${row.result.timing}`;

/** Rows whose units each have a figure, by what was asked. A row without figures belongs to those that were asked the same. */
export function eachUnit(run: Run, rows: Row[] = run.rows): Row[][] {
  const known = new Set(run.rows.filter((row) => "p50" in row.result.percentiles).map(question));
  const groups = new Map<string, Row[]>();
  for (const row of rows) if (known.has(question(row))) group(groups, question(row), row);
  return [...groups.values()];
}

/** Nothing else was measured, but for controls. */
export const onlyEachUnit = (run: Run): boolean => {
  const found = new Set(eachUnit(run).flat());
  return found.size > 0 && run.rows.every((row) => row.detail.control || found.has(row));
};

/** A percentile with the ends of its interval over starts. */
interface Mark {
  key: string;
  family: string;
  share: string;
  value: number;
  low: number | null;
  high: number | null;
}

function marksOf(row: Row, shares: string[]): Mark[] {
  const of = row.result.percentiles;
  return shares.flatMap((share) => {
    const value = share === "p50" && bimodal(row) ? null : positive(of[share]);
    const [low, high] = [positive(of[`${share}_low`]), positive(of[`${share}_high`])];
    return value === null ? [] : [{ key: row.key, family: row.family, share, value, low, high }];
  });
}

export interface Bar {
  low: number;
  high: number;
  count: number;
}

/** How far a bin is from the next on logarithmic axes; a histogram leaves out those that are empty. */
function step(rows: Row[]): number {
  let least = Infinity;
  for (const { detail } of rows)
    detail.histogram.forEach(([value], i) => {
      const before = detail.histogram[i - 1]?.[0] ?? 0;
      if (before > 0 && value > before) least = Math.min(least, value / before);
    });
  return Number.isFinite(least) ? least : 1.1;
}

/** The histogram of a row as bars, less what reading the counter costs, which is off its percentiles too. */
export function bars(row: Row, wide: number): Bar[] {
  const reading = row.result.reading ?? 0;
  const half = Math.sqrt(wide);
  return row.detail.histogram.flatMap(([value, count]) => {
    const high = value * half - reading;
    return value > 0 && high > 0 ? [{ low: Math.max(value / half - reading, 0), high, count }] : [];
  });
}

/** Names of a row's marks, ascending, of those too close to one another together: where their middle stands, within the axis. */
export function named(
  marks: Mark[],
  [low, high]: [number, number],
  inner: number,
): { key: string; x: number; text: string }[] {
  const place = (value: number): number => (Math.log(value / low) / Math.log(high / low)) * inner;
  const half = (text: string): number => (text.length / 2) * CHARACTER;
  const middle = ({ from, to, text }: { from: number; to: number; text: string }): number =>
    Math.max(half(text), Math.min(inner - half(text), (from + to) / 2));
  const found: { key: string; from: number; to: number; text: string }[] = [];
  for (const { key, value, share } of marks) {
    let group = { key, from: place(value), to: place(value), text: share };
    // Together two take more room, and may reach the one before.
    for (let last = found.at(-1); last?.key === key; last = found.at(-1)) {
      if (middle(group) - middle(last) >= half(last.text) + half(group.text) + CHARACTER) break;
      group = { key, from: last.from, to: group.to, text: `${last.text} ${group.text}` };
      found.pop();
    }
    found.push(group);
  }
  return found.map((group) => ({
    key: group.key,
    x: low * (high / low) ** (middle(group) / inner),
    text: group.text,
  }));
}

/** The bars of each row, on the line of the row. */
function histograms(
  rows: { row: Row; bars: Bar[] }[],
  [least, most]: [number, number],
  paint: (row: Row) => string,
  seat: Seat,
): Plot.Markish {
  return (_index, { x, y }, _values, _dimensions, { document }) => {
    const all = document.createElementNS("http://www.w3.org/2000/svg", "g");
    all.setAttribute("data-mark", "histogram");
    for (const { row, bars } of rows) {
      const seen = bars.filter((bar) => bar.high > least && bar.low < most);
      const fullest = seen.reduce((high, bar) => Math.max(high, bar.count), 1);
      const bottom = Number(y!(row.key)) + seat.height - seat.insetBottom;
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      const at = (value: number): string => Number(x!(Math.min(most, Math.max(least, value)))).toFixed(1);
      path.setAttribute(
        "d",
        seen
          .map(({ low, high, count }) => {
            // A single unit of thousands is what the tail is about.
            const height = Math.max(2, (count / fullest) * BARS);
            return `M${at(low)},${bottom}V${(bottom - height).toFixed(1)}H${at(high)}V${bottom}Z`;
          })
          .join(""),
      );
      path.setAttribute("fill", paint(row));
      path.setAttribute("fill-opacity", row.result.verdict === "verified" ? "0.5" : "0.2");
      all.append(path);
    }
    return all;
  };
}

/** A line through the bars for each share, and below them its figure and its interval, each share at a height of its own. */
function shareMarks(
  marks: Mark[],
  shares: string[],
  rows: Map<string, Row>,
  paint: (mark: Mark) => string,
  seat: Seat,
): Plot.Markish[] {
  return shares.flatMap((share, nth) => {
    const mine = marks.filter((mark) => mark.share === share);
    const below = (nth + 1) * LANE;
    return [
      Plot.tickX(mine, {
        y: "key",
        x: "value",
        stroke: "var(--text)",
        strokeOpacity: 0.75,
        strokeWidth: 1,
        insetTop: seat.insetTop + NAMES,
        insetBottom: seat.insetBottom - below,
      }),
      intervals(mine, paint, { strokeWidth: 3.5, strokeOpacity: 0.6, dy: seat.dy + below }),
      Plot.dot(mine, {
        y: "key",
        x: "value",
        r: 2.8,
        fill: (mark: Mark) => (rows.get(mark.key)!.result.verdict === "verified" ? paint(mark) : "var(--paper)"),
        stroke: paint,
        strokeWidth: 1.4,
        dy: seat.dy + below,
      }),
    ];
  });
}

/** Why a row failed, and what changes how its figures are read, folded. What is said of each row stands there once, and rows with the same together. */
function caveats(rows: Row[]): HTMLElement | null {
  const parts = (row: Row): string[] => {
    const { verdict, reason } = row.result;
    return [reason && `${verdict}: ${reason}`, ...row.detail.caveats.flatMap((text) => text.split("; "))].filter(
      Boolean,
    );
  };
  const noted = rows.filter((row) => parts(row).length > 0);
  if (noted.length === 0) return null;
  const all =
    noted.length < 3 ? [] : parts(noted[0]!).filter((part) => noted.every((row) => parts(row).includes(part)));
  const told = new Map<string, Row[]>();
  for (const row of noted) {
    const own = parts(row).filter((part) => !all.includes(part));
    if (own.length > 0) group(told, own.join("; "), row);
  }
  const lines = [...told].map(([text, of]) =>
    h("li", {}, h("strong", {}, of.map((row) => row.label).join(", ")), `: ${text}`),
  );
  if (all.length > 0) lines.push(h("li", {}, h("strong", {}, "Each of these rows"), `: ${all.join("; ")}`));
  return h(
    "details",
    { class: "caveats" },
    h("summary", {}, `Notes on ${noted.length === 1 ? "a row" : `${noted.length} rows`}`),
    h("ul", { class: "said" }, ...lines),
  );
}

/** A percentile as the host gives it, with its interval. */
function written(row: Row, share: string, quantity: Quantity): string {
  if (share === "p50" && bimodal(row)) return cost(row);
  const { [share]: value, [`${share}_low`]: low, [`${share}_high`]: high } = row.result.percentiles;
  if (value === undefined) return "–";
  const told = amount(value, quantity);
  return low === undefined || high === undefined
    ? told
    : `${told} (${amount(low, quantity)} – ${amount(high, quantity)})`;
}

/** Each row's units as a small histogram with its percentiles, all on one axis. */
export function percentiles(context: Context): HTMLElement[] {
  const groups = eachUnit(context.run, context.rows);
  if (groups.length > 0) return groups.map((rows) => one(context, rows));
  return [
    eachUnit(context.run).length > 0
      ? nothing("No row with percentiles passes the filters.")
      : nothing("No row here has percentiles of single switches. To measure them:", COMMAND),
  ];
}

/** Measures some. */
export const COMMAND = "switchcost run PATTERN --timing each";

function one(context: Context, all: Row[]): HTMLElement {
  const { shown: rows, pager } = paged(all, context);
  const { data } = context;
  const { experiment, result: first } = all[0]!;
  const about = experimentOf(experiment, data);
  const quantity = measured(experiment, data);
  const common = shared(all);
  const drawable = rows.filter((row) => row.figures.length > 0);
  const shares = SHARES.filter((share) => share === "p50" || drawable.some((row) => share in row.result.percentiles));
  const told = [...shares, LONGEST];
  const marks = drawable.flatMap((row) => marksOf(row, shares));
  const wide = step(drawable);
  const pictures = drawable.map((row) => ({ row, bars: bars(row, wide) }));
  // What is left where reading the counter costs more than the unit would stretch the axis without end.
  const ends = pictures.flatMap(({ row, bars }) =>
    bars.flatMap(({ low, high }) => [low > (row.figures[0] ?? 0) / 100 ? low : null, high]),
  );
  const x = logAxis([...marks.flatMap((mark) => [mark.value, mark.low, mark.high]), ...ends], quantity, context.width);
  const domain = x.domain as [number, number];
  const paint = (of: { family: string }): string => colour(of.family, data);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const end = (row: Row): string => {
    if (row.figures.length === 0) return "";
    const own = marksOf(row, shares).map((mark) => `${mark.share} ${amount(mark.value, quantity)}`);
    const tail = own.at(-1) ?? "";
    const failed = row.result.verdict !== "verified" && row.result.verdict;
    if (context.width < NARROW) return failed || tail;
    return failed ? `${tail}  ${failed}` : own.length > 1 ? `${own[0]}, ${tail}` : tail;
  };
  const picture =
    rows.length === 0
      ? null
      : rowPlot({
          items: rows.map((row) => ({
            key: row.key,
            label: without(row.label, common),
            end: end(row),
            ...words(row),
          })),
          width: context.width,
          x,
          ends: about.paced ? ["earlier", "later"] : [quantity.smaller, quantity.greater],
          tall: { above: NAMES + BARS + 3, below: (shares.length + 1) * LANE },
          marks: (seat) => [
            histograms(pictures, domain, paint, seat),
            ...shareMarks(marks, shares, byKey, paint, seat),
            Plot.text(named(marks, domain, seat.inner), {
              y: "key",
              x: "x",
              text: "text",
              fontSize: 10,
              fill: "var(--text)",
              stroke: "var(--paper)",
              strokeWidth: 3,
              dy: seat.insetTop + NAMES / 2 - seat.height / 2,
            } as Plot.TextOptions),
          ],
        });
  picture?.addEventListener("click", (event) => {
    const row = byKey.get(rowAt(picture, event as MouseEvent) ?? "");
    if (row) context.go({ open: row.label });
  });
  const tip =
    picture &&
    pointed(picture, `pale = failed a check · click a row for what it is`, (key) => {
      const row = byKey.get(key);
      const of =
        row && (words(row).words ?? told.map((share) => `${share} ${written(row, share, quantity)}`).join(" · "));
      return row && `${row.label}: ${of}`;
    });
  return figure({
    id: `percentiles-${experiment}-${first.timing}`,
    title: [about.title, ...common.filter((word) => word !== experiment)].join(" · "),
    caption: `Histogram: all samples of a row, scaled to its fullest bar; even a single sample shows. Lines and dots: ${shares.join(", ")}, each the median of the process runs; bars: their 95 % intervals, given six runs or more. A percentile needs ten samples beyond it in each run. Hollow and pale: failed a check, named at the end of the line.`,
    command: typed(context.run),
    n: counted(all),
    picture,
    extra: [tip, pager],
    below: caveats(rows),
    table: {
      head: ["mechanism", ...told, "samples", "process runs", "verdict"],
      rows: rows.map((row) => [
        row.label,
        ...told.map((share) => written(row, share, quantity)),
        thousands(row.result.samples),
        thousands(row.result.starts),
        row.result.verdict,
      ]),
      under: notes(rows, (row) => [row.result.reason, ...row.result.notes]),
    },
  });
}
