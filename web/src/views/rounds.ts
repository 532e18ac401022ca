import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import { bimodal, type Row, type Start } from "../data";
import { figure, nothing } from "../figure";
import { amount, digits, percent } from "../format";
import { axes, drawn, logAxis, rowPlot } from "../rowplot";
import { focus, lines, paged, rowChooser, words } from "./common";

/** Deviations beyond this are shown as this. */
const REACH = 0.2;

/** What the run was like from its first start to its last. */
export function rounds(context: Context): HTMLElement[] {
  const rows = context.rows.filter((row) => row.starts.length > 0 && row.figures.length > 0);
  if (rows.length === 0)
    return [nothing("This page has no single process runs of these rows. To measure some:", "switchcost run")];
  const row = focus(context, (row) => row.starts.some((start) => start.median > 0));
  return [overview(context, rows), ...(row ? [closely(context, row)] : [])];
}

const seconds = (value: number): string => `${Number(value.toPrecision(3))} s`;

/** How far a start is from its row's figure; of several from the nearest. */
function off({ median }: Start, { figures }: Row): number {
  const far = figures.map((figure) => median / figure - 1).sort((a, b) => Math.abs(a) - Math.abs(b));
  return far[0] ?? 0;
}

function overview(context: Context, all: Row[]): HTMLElement {
  const { shown: rows, pager } = paged(all, context);
  const points = rows.flatMap((row) => row.starts.map((start) => ({ ...start, key: row.key, off: off(start, row) })));
  const most = points.reduce((last, point) => Math.max(last, point.at), 1);
  // Blue and orange with a pale middle, distinguished by all.
  const paint = (point: { off: number }): string => {
    const share = Math.min(1, Math.abs(point.off) / REACH);
    return `color-mix(in oklab, ${point.off < 0 ? "var(--faster)" : "var(--slower)"} ${Math.round(share * 100)}%, var(--pale))`;
  };
  const disturbed = points.filter((point) => point.remark !== "");
  const picture = rowPlot({
    items: lines(rows, context, (row) => ({ ...words(row), end: `${row.starts.length} runs` })),
    width: context.width,
    x: {
      domain: [0, most * 1.02],
      ticks: Math.max(3, context.width / 120),
      tickFormat: seconds as (x: unknown) => string,
      label: null,
    } as unknown as Plot.ScaleOptions,
    marks: (seat) => [
      Plot.dot(points, {
        y: "key",
        x: "at",
        r: 4,
        stroke: "var(--faint)",
        strokeWidth: 0.8,
        dy: seat.dy,
        fill: (point: { off: number }) => paint(point),
      }),
      Plot.dot(disturbed, {
        y: "key",
        x: "at",
        r: 5.5,
        symbol: "times",
        stroke: "var(--alarm)",
        strokeWidth: 1.5,
        dy: seat.dy,
        title: "remark",
      }),
    ],
  });
  for (const dot of picture.querySelectorAll("circle")) {
    const fill = dot.getAttribute("fill");
    // `color-mix` is known to style sheets, not to presentation attributes of every browser.
    if (fill?.startsWith("color-mix")) dot.style.fill = fill;
  }
  return figure({
    id: "rounds",
    title: "Process runs over time",
    caption: `One dot per process run. Blue: faster than the row's median (or its nearest mode); orange: slower; full colour at ±${percent(REACH)}. Cross: disturbed, or not verified. If dots above one another have one colour, the whole machine drifted.`,
    command: typed(context.run),
    n: counted(all),
    picture,
    extra: [pager],
    table: {
      head: ["mechanism", "process runs", "last third against first", "remarks"],
      rows: rows.map((row) => [
        row.label,
        String(row.starts.length),
        drift(row),
        row.starts
          .filter((start) => start.remark)
          .map((start) => `run ${start.sequence}: ${start.remark}`)
          .join("; ") || "none",
      ]),
    },
  });
}

/** How the last third of the counted starts differs from the first; plain arithmetic, no verdict. */
const drift = (row: Row): string =>
  bimodal(row) ? "–" : (row.detail.drift !== null && row.detail.drift >= 0 ? "+" : "") + percent(row.detail.drift);

function closely(context: Context, row: Row): HTMLElement {
  const starts = row.starts.filter((start) => start.median > 0);
  const disturbed = starts.filter((start) => start.remark || !start.counted);
  const y = logAxis(
    starts.flatMap((start) => [start.p10, start.p90, start.median]),
    row.quantity,
    320,
  );
  const paint = colour(row.family, context.data);
  const picture = drawn({
    width: context.width,
    height: 300,
    marginLeft: 68,
    marginBottom: 40,
    x: {
      label: "since the start of the run →",
      tickFormat: seconds as (x: unknown) => string,
      domain: [0, Math.max(1, ...starts.map((start) => start.at)) * 1.02],
      ticks: Math.max(3, context.width / 120),
    },
    y: { ...y, axis: null },
    style: { fontSize: "12px" },
    marks: [
      Plot.gridY({ ticks: y.ticks, stroke: "var(--line)", strokeOpacity: 1 } as Plot.GridYOptions),
      ...axes({ y }),
      Plot.ruleY([row.low, row.high], { stroke: "var(--text)", strokeOpacity: 0.4 }),
      Plot.ruleY(row.figures, { stroke: "var(--text)", strokeDasharray: "2,3" }),
      Plot.link(starts, { x: "at", y1: "p10", y2: "p90", stroke: paint, strokeWidth: 3, strokeOpacity: 0.35 }),
      Plot.dot(starts, {
        x: "at",
        y: "median",
        r: 3.5,
        fill: (start: Start) => (start.counted ? paint : "var(--paper)"),
        stroke: paint,
      } as Plot.DotOptions),
      Plot.dot(disturbed, { x: "at", y: "median", r: 6, symbol: "times", stroke: "var(--alarm)", strokeWidth: 1.5 }),
      Plot.tip(
        starts,
        Plot.pointer({
          x: "at",
          y: "median",
          title: (start: Start) =>
            `round ${start.round}, process run ${start.sequence}\nmedian ${amount(start.median, row.quantity)} (p10 ${amount(start.p10, row.quantity)}, p90 ${amount(start.p90, row.quantity)})${start.remark ? `\n${start.remark}` : ""}`,
          fill: "var(--paper)",
          stroke: "var(--line)",
        }),
      ),
    ],
  });
  return figure({
    id: "closely",
    title: `Run by run: ${row.label}`,
    caption:
      "Dot: median of a process run; bar: 10th to 90th percentile of its batches. Dashed: the row's median, or each of its modes; thin lines: its 95 % interval. Hollow or crossed: left out, because it was disturbed or not verified.",
    command: typed(context.run),
    n: `${starts.length} process runs`,
    picture,
    extra: [rowChooser("row-rounds", row, context, (one) => one.starts.length > 0)],
    table: {
      head: ["process run", "round", "seconds", "median", "p10 – p90", "counted", "remark"],
      rows: starts
        .slice(0, 1000)
        .map((start) => [
          String(start.sequence),
          String(start.round),
          digits(start.at),
          amount(start.median, row.quantity),
          `${amount(start.p10, row.quantity)} – ${amount(start.p90, row.quantity)}`,
          start.counted ? "yes" : "no",
          start.remark,
        ]),
    },
  });
}
