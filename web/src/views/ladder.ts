import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import {
  bimodal,
  brief,
  cost,
  eachFigure,
  experimentOf,
  type Literature,
  literatureOf,
  measured,
  type Row,
} from "../data";
import { type Choice, h, select } from "../dom";
import { figure, nothing, pointed } from "../figure";
import { amount, type Quantity, times as timesOf } from "../format";
import { told, where } from "../literature";
import { COSTS, intervals, logAxis, rowAt, rowPlot, type Seat } from "../rowplot";
import { byExperiment, lines, notes, paged, shared, without, words } from "./common";

/** The ladder: what each kind of switch costs, on one axis. */
export function ladder(context: Context): HTMLElement[] {
  if (context.rows.length === 0) return [nothing("No row passes the filters.")];
  return byExperiment(context.rows).map(([experiment, rows]) => one(context, experiment, rows));
}

/** The rung to which factors refer: the one chosen, else the run's reference. */
function rung(context: Context, rows: Row[]): Row | undefined {
  const chosen = rows.find((row) => row.label === context.state.against && row.figures.length > 0);
  return chosen ?? rows.find((row) => row.label === context.run.data.run.reference);
}

/** Cost of a row by that of another of its run, by the estimate of `compare`; null where there is none. */
function ratioTo(reference: Row, row: Row, context: Context): number | null {
  if (row === reference) return 1;
  if (reference.label === context.run.data.run.reference) return row.result.times_reference;
  const table = context.data.tables.find(
    (table) => table.reference === reference.label && table.a === context.run.index && table.b === table.a,
  );
  return table?.comparisons.find((comparison) => comparison.b === row.label)?.ratio ?? null;
}

/** All that the line above the picture has room for. */
function summary(row: Row, quantity: Quantity, context: Context): string {
  const of = (value: number | null): string => amount(value, quantity);
  const about = context.data.mechanisms[row.result.mechanism]?.short ?? "";
  return [
    `${row.label}${about ? ` (${about})` : ""}: ${cost(row)} per ${row.result.unit}`,
    row.low === null ? "no interval" : `${of(row.low)} – ${of(row.high)}`,
    [row.result.verdict, ...row.detail.limits, `${row.result.starts} process runs`].join(", "),
  ].join(" · ");
}

interface Mark extends Literature {
  key: string;
  /** Place in the list below the picture. */
  nth: number;
}

/** Room that a digit of the numbers takes, and a diamond, in pixels. */
const DIGIT = 5.5;
const DIAMOND = 9;

/** Numbers of a row's marks, of those too close to one another together. */
export function numbered(
  marks: Mark[],
  [low, high]: [number, number],
  inner: number,
): { key: string; x: number; text: string }[] {
  const place = (value: number): number => (Math.log(value / low) / Math.log(high / low)) * inner;
  const groups: { key: string; x: number; text: string }[] = [];
  for (const mark of [...marks].sort((a, b) => a.low - b.low)) {
    const last = groups.findLast((group) => group.key === mark.key);
    if (
      last &&
      place(mark.low) - place(last.x) <
        Math.max(DIAMOND, (last.text.length + String(mark.nth).length + 1) * (DIGIT / 2) + 4)
    )
      last.text += `,${mark.nth}`;
    else groups.push({ key: mark.key, x: mark.low, text: String(mark.nth) });
  }
  return groups;
}

/** What others published, by number. */
function literatureMarks(literature: Mark[], domain: [number, number], seat: Seat): Plot.Markish[] {
  return [
    Plot.link(
      literature.filter((mark) => mark.high !== null),
      {
        y: "key",
        x1: "low",
        x2: "high",
        stroke: "var(--faint)",
        strokeOpacity: 0.6,
        strokeWidth: 1,
        strokeDasharray: "2,2",
        dy: seat.dy,
      },
    ),
    Plot.dot(literature, {
      y: "key",
      x: "low",
      symbol: "diamond2" as Plot.SymbolType,
      stroke: "var(--faint)",
      r: 3.5,
      title: told,
      dy: seat.dy,
    }),
    Plot.text(numbered(literature, domain, seat.inner), {
      y: "key",
      x: "x",
      text: "text",
      fontSize: 9,
      fill: "var(--faint)",
      stroke: "var(--paper)",
      strokeWidth: 3,
      // Where labels stand above their marks, numbers stand below.
      dy: seat.dy === 0 ? -9 : seat.dy + 8,
    } as Plot.TextOptions),
  ];
}

/** Luckiest batch, 99th percentile, interval and median of each row. */
function rowMarks(drawable: Row[], batches: boolean, context: Context, seat: Seat): Plot.Markish[] {
  const single = drawable.filter((row) => row.median !== null);
  const timed = (value: "min" | "p99"): Row[] => drawable.filter((row) => row[value] !== null && batches);
  const paint = (row: Row): string => colour(row.family, context.data);
  return [
    Plot.tickX(timed("min"), {
      y: "key",
      x: "min",
      stroke: paint,
      strokeWidth: 1.5,
      insetTop: seat.insetTop,
      insetBottom: seat.insetBottom,
    }),
    Plot.tickX(timed("p99"), {
      y: "key",
      x: "p99",
      stroke: paint,
      strokeWidth: 1.5,
      strokeDasharray: "2,2",
      insetTop: seat.insetTop,
      insetBottom: seat.insetBottom,
    }),
    intervals(single, paint, { dy: seat.dy }),
    Plot.dot(eachFigure(drawable.filter(bimodal)), {
      y: "key",
      x: "value",
      r: "radius",
      fill: (mode: { family: string }) => colour(mode.family, context.data),
      dy: seat.dy,
    }),
    Plot.dot(single, {
      y: "key",
      x: "median",
      r: 4.5,
      symbol: (row: Row) => (row.result.verdict === "contradicted" ? "times" : "circle"),
      fill: (row: Row) => (row.result.verdict === "verified" ? colour(row.family, context.data) : "var(--paper)"),
      stroke: (row: Row) => (row.result.verdict === "contradicted" ? "var(--alarm)" : colour(row.family, context.data)),
      strokeWidth: 1.8,
      dy: seat.dy,
    }),
  ];
}

function one(context: Context, experiment: string, all: Row[]): HTMLElement {
  const { shown: rows, pager } = paged(all, context);
  const about = experimentOf(experiment, context.data);
  const quantity = measured(experiment, context.data);
  const reference = rung(context, all);
  const times = (row: Row): string => {
    const ratio = reference === undefined ? null : ratioTo(reference, row, context);
    return ratio === null ? "" : timesOf(ratio);
  };
  const common = shared(all);
  const drawable = rows.filter((row) => row.figures.length > 0);
  const known = drawable
    .map((row) => ({ row, values: literatureOf(row, context.data).sort((a, b) => a.low - b.low) }))
    .filter(({ values }) => values.length > 0);
  const published = context.state.published === "shown" ? known : [];
  const cited = [...new Set(published.flatMap(({ values }) => values))];
  const literature: Mark[] = published.flatMap(({ row, values }) =>
    values.map((value) => ({ ...value, key: row.key, nth: cited.indexOf(value) + 1 })),
  );
  const x = logAxis(
    [
      ...drawable.flatMap((row) => [...row.figures, row.low, row.high, row.min, row.p99]),
      ...literature.flatMap((mark) => [mark.low, mark.high]),
    ],
    quantity,
    context.width,
  );
  const end = (row: Row, cost: string): string => {
    if (row.figures.length === 0) return "";
    const verdict = [row.result.verdict === "verified" ? times(row) : row.result.verdict, ...row.detail.limits].join(
      " ",
    );
    return `${cost}${row.result.unit === about.unit || context.width < 640 ? "" : `/${row.result.unit}`}  ${verdict}`.trimEnd();
  };
  const picture =
    rows.length === 0
      ? null
      : rowPlot({
          items: lines(rows, context, (row) => ({
            label: without(row.label, common),
            end: end(row, cost(row)),
            short: end(row, brief(row)),
            ...words(row),
          })),
          width: context.width,
          x,
          ends: COSTS,
          marks: (seat) => [
            ...literatureMarks(literature, x.domain as [number, number], seat),
            ...rowMarks(drawable, about.batches, context, seat),
            reference?.median
              ? Plot.ruleX([reference.median], { stroke: "var(--text)", strokeDasharray: "1,3", strokeOpacity: 0.6 })
              : null,
          ],
        });
  const onchange = (event: Event): void =>
    context.go({ published: (event.target as HTMLInputElement).checked ? "shown" : "" });
  const box = h("input", {
    id: `published-${experiment}`,
    type: "checkbox",
    checked: context.state.published === "shown",
    onchange,
  });
  const others =
    known.length > 0 &&
    h("label", { class: "field", for: `published-${experiment}` }, box, h("span", {}, "published figures"));
  const byKey = new Map(rows.map((row) => [row.key, row]));
  picture?.addEventListener("click", (event) => {
    const row = byKey.get(rowAt(picture, event as MouseEvent) ?? "");
    if (row) context.go({ open: row.label });
  });
  const tip =
    picture &&
    pointed(picture, "hollow = failed a check · click a row for what it is", (key) => {
      const row = byKey.get(key);
      return row && summary(row, quantity, context);
    });
  const choices: Choice[] = all
    .filter((row) => row.figures.length > 0)
    .slice(0, 500)
    .map((row) => [row.label, row.label]);
  const chooser = select(`against-${experiment}`, "Compare with", choices, reference?.label ?? "", (against) =>
    context.go({ against }),
  );
  const failed = drawable.some((row) => row.result.verdict !== "verified");
  const heads = context.data.columns.map((column) => column.title);
  return figure({
    id: `ladder-${experiment}`,
    title: [about.title, ...common.filter((word) => word !== experiment)].join(" · "),
    caption: `Dot: median of the process runs; bar: its 95 % interval${about.batches ? "; full tick: the fastest batch; dashed tick: 99th percentile of batches" : ", from the kernel's counters"}${cited.length > 0 ? "; faint diamonds: published by others, by number (other machine, other method)" : ""}.${drawable.some(bimodal) ? " Two dots: bimodal, one figure per mode, the most frequent first; the larger the dot, the more frequent." : ""}${failed ? " Hollow: failed a check, named at the end of the line." : ""}${reference ? ` More and less: ratio to ${reference.label}, the median over rounds. For verdicts see Compare.` : ""}`,
    command: typed(context.run),
    n: counted(all),
    picture,
    tools: [others, choices.length > 1 ? chooser : null],
    extra: [tip, pager],
    below:
      cited.length > 0 &&
      h(
        "ol",
        { class: "literature", "aria-label": "Published by others, by the numbers in the picture" },
        ...cited.map((value) => h("li", {}, where(value))),
      ),
    table: {
      head: [...heads, "×", "limits"],
      // The host's cell has the modes without their shares.
      rows: rows.map((row) => [
        ...row.detail.cells.map((cell, i) =>
          bimodal(row) && heads[i] === "median" ? `${cost(row)} per ${row.result.unit}` : cell,
        ),
        times(row),
        row.detail.limits.join(", "),
      ]),
      under: notes(rows, (row) => [
        row.result.reason,
        ...row.result.notes,
        ...literatureOf(row, context.data).map((value) => `published: ${told(value)}`),
      ]),
    },
  });
}
