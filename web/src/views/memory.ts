import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import { experimentOf, group, hardware, isMemory, isSwitch, type PageData, type Row, type Run } from "../data";
import { select } from "../dom";
import { figure, nothing } from "../figure";
import { BYTES, bytes, duration, thousands, TIME } from "../format";
import { axes, drawn, logAxis } from "../rowplot";
import { commands } from "./common";

/** A mechanism with what its context keeps and what its switch costs. */
interface Priced {
  mechanism: string;
  kept: Row;
  switched: Row;
}

/** Of several rows the one for most contexts stands for many connections; of equals the cheapest. */
const better = (known: Row | undefined, row: Row): boolean =>
  known === undefined ||
  row.result.contexts > known.result.contexts ||
  (row.result.contexts === known.result.contexts && row.median! < known.median!);

/** The mechanisms of which the runs of this run's machine hold both. */
export function priced(of: Run, all: Run[], data: PageData): Priced[] {
  const runs = all.filter((run) => hardware(run) === hardware(of));
  const found = new Map<string, { kept?: Row; switched?: Row }>();
  for (const row of runs.flatMap((run) => run.rows)) {
    if (row.median === null || row.detail.control || row.result.timing !== "batch" || row.result.modes.length > 0)
      continue;
    const key = row.result.mechanism;
    const mine = found.get(key) ?? {};
    if (isMemory(experimentOf(row.experiment, data)) && better(mine.kept, row)) mine.kept = row;
    if (isSwitch(row, data) && better(mine.switched, row)) mine.switched = row;
    found.set(key, mine);
  }
  // What a family keeps may be measured once, of a mechanism that has no switch of its own: it holds for those that have none of theirs.
  const families = new Map<string, Row[]>();
  for (const { kept, switched } of found.values()) if (kept && !switched) group(families, kept.family, kept);
  return [...found].flatMap(([mechanism, { kept, switched }]) => {
    const [family, ...others] = switched ? (families.get(switched.family) ?? []) : [];
    const memory = kept ?? (others.length === 0 ? family : undefined);
    return memory && switched ? [{ mechanism, kept: memory, switched }] : [];
  });
}

/** Counts of contexts that are asked for. */
const COUNTS = [1, 1000, 10_000, 100_000, 1_000_000];

/** Memory against switch: what many connections keep, and what it costs to serve the next of them. */
export function memory(context: Context): HTMLElement[] {
  const all = priced(context.run, context.runs, context.data);
  if (all.length === 0)
    return [
      nothing(
        "No mechanism here has both its memory and its switch. Measure the two, and make one page of them:",
        "switchcost run PATTERN --contexts 10k",
        ...commands(context.data, isMemory),
        "switchcost report latest~1 latest",
      ),
    ];
  const asked = Number(context.state.contexts);
  const count = COUNTS.includes(asked) ? asked : 10_000;
  const points = all.map((each) => ({
    ...each,
    family: each.switched.family,
    x: each.switched.median!,
    y: each.kept.median! * count,
  }));
  return [shown(context, points, count)];
}

/** A mechanism in the picture. */
type Point = Priced & { family: string; x: number; y: number };

function scatter(context: Context, points: Point[]): SVGSVGElement | HTMLElement {
  const narrow = context.width < 640;
  const x = logAxis(
    points.flatMap((point) => [point.x, point.switched.low, point.switched.high]),
    TIME,
    context.width,
  );
  const y = logAxis(
    points.map((point) => point.y),
    BYTES,
    420,
  );
  const [low, high] = x.domain as [number, number];
  // A label that would leave the picture stands on the other side of its mark.
  const before = (point: Point): boolean => Math.log(point.x / low) / Math.log(high / low) > (narrow ? 0.5 : 0.75);
  const label = (of: Point[], anchor: "start" | "end"): Plot.Markish =>
    Plot.text(of, {
      x: "x",
      y: "y",
      text: "mechanism",
      textAnchor: anchor,
      dx: anchor === "start" ? 9 : -9,
      fill: "var(--text)",
      stroke: "var(--paper)",
      strokeWidth: 3,
    });
  return drawn({
    width: context.width,
    height: narrow ? 380 : 460,
    marginLeft: 74,
    marginTop: 24,
    marginRight: 16,
    marginBottom: 48,
    x: { ...x, axis: null },
    y: { ...y, axis: null },
    symbol: { type: "identity" } as Plot.ScaleOptions,
    style: { fontSize: "12px", overflow: "visible" },
    marks: [
      Plot.gridX({ ticks: x.ticks, stroke: "var(--line)", strokeOpacity: 1 } as Plot.GridXOptions),
      Plot.gridY({ ticks: y.ticks, stroke: "var(--line)", strokeOpacity: 1 } as Plot.GridYOptions),
      ...axes({ x: { ...x, label: "one switch →" }, y }),
      Plot.link(
        points.filter((point) => point.switched.low !== null && point.switched.high !== null),
        {
          x1: (point: Point) => point.switched.low,
          x2: (point: Point) => point.switched.high,
          y: "y",
          stroke: (point: Point) => colour(point.family, context.data),
          strokeWidth: 3,
          strokeOpacity: 0.5,
        } as Plot.LinkOptions,
      ),
      Plot.dot(points, { x: "x", y: "y", r: 5, fill: (point: Point) => colour(point.family, context.data) }),
      label(
        points.filter((point) => !before(point)),
        "start",
      ),
      label(points.filter(before), "end"),
    ],
  });
}

function shown(context: Context, points: Point[], count: number): HTMLElement {
  const choices = COUNTS.map((count) => [String(count), thousands(count)] as const);
  return figure({
    id: "memory",
    title:
      count === 1 ? "One context: memory against switch" : `${thousands(count)} connections: memory against switch`,
    caption: `Bottom left is best. Up: memory that ${thousands(count)} suspended contexts keep, ${thousands(count)} times that of one; right: one switch on one CPU, with its 95 % interval. Both of the row with most contexts; a mechanism without one of its own has that of its family. Both axes logarithmic.`,
    command: [...new Set(context.runs.map(typed))].slice(0, 4).join("; "),
    n: counted(points.flatMap((point) => [point.kept, point.switched])),
    picture: scatter(context, points),
    tools: [select("contexts", "Contexts", choices, String(count), (contexts) => context.go({ contexts }))],
    table: {
      head: [
        "mechanism",
        "one switch",
        "in a ring of",
        "memory of one",
        "measured with",
        `memory of ${thousands(count)}`,
      ],
      rows: [...points]
        .sort((a, b) => a.y - b.y)
        .map((point) => [
          point.mechanism,
          duration(point.x),
          thousands(point.switched.result.contexts),
          bytes(point.kept.median),
          `${point.kept.result.mechanism}, ${thousands(point.kept.result.contexts)}`,
          bytes(point.y),
        ]),
    },
  });
}
