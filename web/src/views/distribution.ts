import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import { bimodal, brief, byQuantity, cost, eachFigure, type Measure, type Row, type Start } from "../data";
import { figure, nothing } from "../figure";
import { amount, duration, tick } from "../format";
import { COSTS, axes, drawn, logAxis, rowPlot } from "../rowplot";
import { focus, lines, paged, rowChooser, words } from "./common";

/** How starts, batches and single units are spread. */
export function distribution(context: Context): HTMLElement[] {
  const rows = context.rows.filter((row) => row.starts.length > 0);
  if (rows.length === 0)
    return [nothing("This page has no single process runs of these rows. To measure some:", "switchcost run")];
  const all = byQuantity(rows, (row) => row, context.data).map(([quantity, group]) =>
    overview(context, group, quantity),
  );
  const each = rows.filter((row) => row.detail.histogram.length > 0);
  const parts = [
    ...all,
    ecdf(context),
    ...byQuantity(each, (row) => row, context.data).map(([quantity, group]) => perUnit(context, group, quantity)),
    each.length === 0 &&
      nothing("No row was timed switch by switch. To do so:", "switchcost run PATTERN --timing each"),
  ];
  return parts.filter((part) => part !== false);
}

type Dot = Start & { key: string; family: string };

const drawableStarts = (row: Row): Start[] => row.starts.filter((start) => start.median > 0);

/** Value of the pooled batches at a share. */
function at(row: Row, share: number, context: Context): number | null {
  const value = row.detail.batches[context.data.shares.indexOf(share)];
  return value != null && value > 0 ? value : null;
}

function overview(context: Context, all: Row[], quantity: Measure): HTMLElement {
  const { shown: rows, pager } = paged(all, context);
  const dots: Dot[] = rows.flatMap((row) =>
    drawableStarts(row).map((start) => ({ ...start, key: row.key, family: row.family })),
  );
  const boxes = rows
    .map((row) => ({
      key: row.key,
      family: row.family,
      p1: at(row, 0.01, context),
      p10: at(row, 0.1, context),
      p90: at(row, 0.9, context),
      p99: at(row, 0.99, context),
    }))
    .filter((box) => box.p1 !== null && box.p99 !== null);
  const paint = (of: { family: string }): string => colour(of.family, context.data);
  const picture =
    dots.length === 0
      ? null
      : rowPlot({
          items: lines(rows, context, (row) => ({ end: cost(row), short: brief(row), ...words(row) })),
          width: context.width,
          x: logAxis(
            [...dots.map((dot) => dot.median), ...boxes.flatMap((box) => [box.p1, box.p99])],
            quantity,
            context.width,
          ),
          ends: COSTS,
          marks: (seat) => [
            Plot.link(boxes, { y: "key", x1: "p1", x2: "p99", stroke: paint, strokeWidth: 1, dy: seat.dy }),
            Plot.link(boxes, {
              y: "key",
              x1: "p10",
              x2: "p90",
              stroke: paint,
              strokeWidth: 7,
              strokeOpacity: 0.3,
              dy: seat.dy,
            }),
            Plot.dot(
              dots.filter((dot) => dot.counted),
              { y: "key", x: "median", r: 2.5, fill: paint, fillOpacity: 0.55, dy: seat.dy },
            ),
            Plot.dot(
              dots.filter((dot) => !dot.counted),
              { y: "key", x: "median", r: 3, symbol: "times", stroke: "var(--alarm)", dy: seat.dy },
            ),
            Plot.tickX(eachFigure(rows), {
              y: "key",
              x: "value",
              stroke: "var(--text)",
              strokeWidth: 1.5,
              insetTop: seat.insetTop - 2,
              insetBottom: seat.insetBottom - 2,
            }),
          ],
        });
  return figure({
    id: `spread-${quantity.name}`,
    title: `Spread of process runs${quantity === context.data.quantities[0] ? "" : `: ${quantity.name}`}`,
    caption:
      "Dot: median of a process run; cross: a run that was left out, because it was disturbed or not verified. Pale bar: 10th to 90th percentile of all batches; thin line: 1st to 99th. Tick: the row's median, or each of its modes.",
    command: typed(context.run),
    n: counted(all),
    picture,
    extra: [pager],
    table: {
      head: [
        "mechanism",
        "process runs",
        "left out",
        "lowest run",
        "median",
        "highest run",
        "p1 of batches",
        "p10",
        "p90",
        "p99",
      ],
      rows: rows.map((row) => {
        const medians = row.starts.filter((start) => start.counted).map((start) => start.median);
        const end = (pick: (...of: number[]) => number): string =>
          medians.length > 0 ? amount(pick(...medians), quantity) : "–";
        return [
          row.label,
          String(medians.length),
          String(row.starts.length - medians.length),
          end(Math.min),
          cost(row),
          end(Math.max),
          ...[0.01, 0.1, 0.9, 0.99].map((share) => amount(at(row, share, context), quantity)),
        ];
      }),
    },
  });
}

function ecdf(context: Context): HTMLElement {
  const row = focus(context, (row) => drawableStarts(row).length > 0);
  if (!row) return nothing("No row has a process run that can be drawn.");
  const starts = drawableStarts(row)
    .filter((start) => start.counted)
    .sort((a, b) => a.median - b.median);
  const steps = starts.map((start, i) => ({ x: start.median, y: (i + 1) / starts.length }));
  const batches = row.detail.batches.flatMap((value, i) =>
    value != null && value > 0 ? [{ x: value, y: context.data.shares[i] ?? 0 }] : [],
  );
  const paint = colour(row.family, context.data);
  const x = logAxis(
    [...steps, ...batches].map((point) => point.x),
    row.quantity,
    context.width,
  );
  const picture = drawn({
    width: context.width,
    height: 300,
    marginLeft: 48,
    marginRight: 24,
    x: { ...x, axis: null },
    y: { domain: [0, 1], tickFormat: "%", label: "share at or below", grid: true },
    style: { fontSize: "12px" },
    marks: [
      ...axes({ x }),
      Plot.line(batches, {
        x: "x",
        y: "y",
        stroke: paint,
        strokeOpacity: 0.55,
        strokeDasharray: "5,3",
        strokeWidth: 2,
      }),
      Plot.line(steps, { x: "x", y: "y", curve: "step-after", stroke: paint, strokeWidth: 2.5 }),
      Plot.dot(steps, { x: "x", y: "y", r: 2.5, fill: paint }),
      Plot.ruleX([row.low, row.high], { stroke: "var(--text)", strokeOpacity: 0.4 }),
      Plot.ruleX(row.figures, { stroke: "var(--text)", strokeDasharray: "2,3" }),
      Plot.text(["— process runs\n– – batches"], { frameAnchor: "bottom-right", dy: -8, dx: -8, fill: "var(--text)" }),
    ],
  });
  return figure({
    id: "ecdf",
    title: `Cumulative distribution: ${row.label}`,
    caption:
      "Line with dots: medians of process runs; dashed: all their batches. Thin lines: 95 % interval of the median. Two or more steep parts: the runs form groups.",
    command: typed(context.run),
    n: `${steps.length} process runs, ${row.result.samples} samples`,
    picture,
    extra: [rowChooser("row-ecdf", row, context, (one) => drawableStarts(one).length > 0)],
    table: {
      head: ["share at or below", "batches"],
      rows: batches.map((point) => [`${(point.y * 100).toFixed(0)} %`, amount(point.x, row.quantity)]),
    },
  });
}

/** Share of intervals at or above a value, on two logarithmic axes: the tail is what it is for. */
function perUnit(context: Context, rows: Row[], quantity: Measure): HTMLElement {
  const shown = rows.slice(0, 8);
  const points = shown.flatMap((row) => {
    const all = row.detail.histogram.reduce((sum, [, count]) => sum + count, 0);
    let above = all;
    return row.detail.histogram.flatMap(([value, count]) => {
      const share = above / all;
      above -= count;
      return value != null && value > 0 && share > 0
        ? [{ label: row.label, family: row.family, x: value, y: share }]
        : [];
    });
  });
  const dashes = ["", "6,3", "2,2", "8,2,2,2"];
  const least = points.reduce((low, point) => Math.min(low, point.y), 1);
  const x = logAxis(
    points.map((point) => point.x),
    quantity,
    context.width,
  );
  const ends = shown.flatMap((row) => points.findLast((point) => point.label === row.label) ?? []);
  const picture = drawn({
    width: context.width,
    height: 340,
    marginLeft: 100,
    marginRight: 24,
    x: { ...x, axis: null },
    y: {
      type: "log",
      domain: [least / 2, 1],
      label: "share at or above",
      grid: true,
      tickFormat: (share: number) =>
        share >= 0.01
          ? `${Number((share * 100).toPrecision(2))} %`
          : `1 in ${Math.round(1 / share).toLocaleString("en")}`,
      ticks: 5,
    },
    style: { fontSize: "12px" },
    marks: [
      ...axes({ x }),
      ...shown.map((row, i) =>
        Plot.line(
          points.filter((point) => point.label === row.label),
          {
            x: "x",
            y: "y",
            stroke: colour(row.family, context.data),
            strokeWidth: 2,
            strokeDasharray: dashes[i % dashes.length] ?? "",
            curve: "step-before",
          },
        ),
      ),
      Plot.text(ends, {
        x: "x",
        y: "y",
        text: "label",
        textAnchor: "end",
        dy: -8,
        dx: -4,
        fill: "var(--text)",
        stroke: "var(--paper)",
        strokeWidth: 4,
      }),
      Plot.tip(
        points,
        Plot.pointer({
          x: "x",
          y: "y",
          title: (point: (typeof points)[number]) =>
            `${point.label}\n${tick(point.x, quantity)} or ${quantity.greater}: ${(point.y * 100).toPrecision(2)} %`,
          fill: "var(--paper)",
          stroke: "var(--line)",
        }),
      ),
    ],
  });
  return figure({
    id: `each-${quantity.name}`,
    title: "Tail of single samples",
    caption: `Share of samples at or above a duration; both axes logarithmic${shown.some((row) => row.result.reading !== null) ? "; including the cost of reading the counter" : ""}. ${rows.length > shown.length ? `The first ${shown.length} of ${rows.length} rows.` : ""}`,
    command: typed(context.run),
    n: `${shown.reduce((sum, row) => sum + row.result.samples, 0)} samples`,
    picture,
    table: {
      head: ["mechanism", "samples", "p50", "p90", "p99", "p99.9", "maximum", "reading the counter"],
      rows: shown.map((row) => {
        const { result: of } = row;
        const beyond = [of.p90, of.p99, of.p999, of.max, of.reading].map(duration);
        return [row.label, String(of.samples), bimodal(row) ? cost(row) : duration(of.p50), ...beyond];
      }),
    },
  });
}
