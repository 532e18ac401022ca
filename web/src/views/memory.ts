import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import {
  cost,
  experimentOf,
  group,
  isMemory,
  isSwitch,
  ofOneMachine,
  type PageData,
  type Row,
  type Run,
} from "../data";
import { type Choice, h, select } from "../dom";
import { figure, nothing } from "../figure";
import { BYTES, either, thousands, TIME } from "../format";
import { placed } from "../labels";
import { axes, drawn, intervals, logAxis } from "../rowplot";
import { commands } from "./common";

/** A mechanism with what its context keeps and what its switch costs, each measured with some numbers of contexts. */
interface Priced {
  mechanism: string;
  kept: Row[];
  switched: Row[];
}

/** The mechanisms of which the runs of this run's machine hold both. */
export function priced(of: Run, all: Run[], data: PageData): Priced[] {
  const found = new Map<string, { kept: Row[]; switched: Row[] }>();
  for (const row of ofOneMachine(of, all).flatMap((run) => run.rows)) {
    if (row.figures.length === 0 || row.detail.control || row.result.timing !== "batch") continue;
    const mine = found.get(row.result.mechanism) ?? { kept: [], switched: [] };
    if (isMemory(experimentOf(row.experiment, data))) mine.kept.push(row);
    if (isSwitch(row, data)) mine.switched.push(row);
    found.set(row.result.mechanism, mine);
  }
  // What a family keeps may be measured once, of a mechanism that has no switch of its own: it holds for those that have none of theirs.
  const families = new Map<string, Row[][]>();
  for (const { kept, switched } of found.values())
    if (kept.length > 0 && switched.length === 0) group(families, kept[0]!.family, kept);
  return [...found].flatMap(([mechanism, { kept, switched }]) => {
    const [family = [], ...others] = families.get(switched[0]?.family ?? "") ?? [];
    const memory = kept.length > 0 ? kept : others.length === 0 ? family : [];
    return memory.length > 0 && switched.length > 0 ? [{ mechanism, kept: memory, switched }] : [];
  });
}

/** The number of contexts that the view is about, measured or not. */
const MANY = 10_000;

/** Mechanisms whose switch was measured between exactly so many contexts: of several variants the cheapest, with the memory measured nearest to that number. */
function pointsAt(count: number, all: Priced[]): Point[] {
  const far = ({ result }: Row): number => Math.abs(Math.log(result.contexts / count));
  return all.flatMap(({ mechanism, kept, switched }) => {
    const [cheapest] = switched
      .filter((row) => row.result.contexts === count)
      .sort((a, b) => a.figures[0]! - b.figures[0]!);
    const [nearest] = [...kept].sort((a, b) => far(a) - far(b) || a.figures[0]! - b.figures[0]!);
    if (!cheapest || !nearest) return [];
    const at = { mechanism, family: cheapest.family, kept: nearest, switched: cheapest };
    return [{ ...at, x: cheapest.figures[0]!, y: nearest.figures[0]! * count }];
  });
}

/** Memory against switch: what many connections keep, and what it costs to serve the next of them. */
export function memory(context: Context): HTMLElement[] {
  const all = priced(context.run, context.runs, context.data);
  if (all.length === 0)
    return [
      nothing(
        "No mechanism here has both its memory and its switch measured. Measure both, and make one page of them:",
        "switchcost run PATTERN --contexts 10k",
        ...commands(context.data, isMemory),
        "switchcost report latest~1 latest",
      ),
    ];
  const rings = new Set([MANY, ...all.flatMap(({ switched }) => switched.map((row) => row.result.contexts))]);
  const counts = [...rings].sort((a, b) => a - b).map((count) => ({ count, points: pointsAt(count, all) }));
  const fullest = [...counts].sort((a, b) => b.points.length - a.points.length)[0]!;
  const many = counts.find(({ count }) => count === MANY)!;
  const asked = counts.find(({ count }) => String(count) === context.state.contexts);
  const chosen = asked ?? (many.points.length > 1 ? many : fullest);
  const choices = counts.map(({ count, points }): Choice => [String(count), `${thousands(count)} (${points.length})`]);
  const chooser = select("contexts", "Contexts", choices, String(chosen.count), (contexts) => context.go({ contexts }));
  return [shown(context, chosen.points, chosen.count, all, chooser)];
}

/** A mechanism in the picture. */
interface Point {
  mechanism: string;
  family: string;
  kept: Row;
  switched: Row;
  x: number;
  y: number;
}

function scatter(context: Context, points: Point[], count: number): SVGSVGElement | HTMLElement {
  const narrow = context.width < 640;
  const x = logAxis(
    points.flatMap(({ switched }) => [...switched.figures, switched.low, switched.high]),
    TIME,
    context.width,
  );
  const y = logAxis(
    points.map((point) => point.y),
    BYTES,
    420,
  );
  const size = { width: context.width, height: narrow ? 420 : 460 };
  const margins = { marginLeft: 74, marginTop: 30, marginRight: 16, marginBottom: 48 };
  const room = {
    left: margins.marginLeft,
    right: size.width - margins.marginRight,
    top: margins.marginTop,
    bottom: size.height - margins.marginBottom,
  };
  const labels = placed(
    points.map((point) => ({ ...point, text: point.mechanism })),
    x.domain as [number, number],
    y.domain as [number, number],
    room,
  );
  const paint = (point: { family: string }): string => colour(point.family, context.data);
  return drawn({
    ...size,
    ...margins,
    x: { ...x, axis: null },
    y: { ...y, axis: null },
    symbol: { type: "identity" } as Plot.ScaleOptions,
    style: { fontSize: "12px", overflow: "visible" },
    marks: [
      Plot.gridX({ ticks: x.ticks, stroke: "var(--line)", strokeOpacity: 1 } as Plot.GridXOptions),
      Plot.gridY({ ticks: y.ticks, stroke: "var(--line)", strokeOpacity: 1 } as Plot.GridYOptions),
      ...axes({
        x: { ...x, label: "← cheaper · one switch · more expensive →" },
        y: { ...y, label: `↑ memory of ${thousands(count)} contexts` },
      }),
      intervals(
        points.map(({ switched: { low, high }, y, family }) => ({ low, high, y, family })),
        paint,
        { y: "y" },
      ),
      Plot.link(labels, { x1: "x", y1: "y", x2: "leadX", y2: "toY", stroke: "var(--faint)", strokeWidth: 0.7 }),
      Plot.dot(
        points.flatMap((point) => point.switched.figures.map((value) => ({ ...point, x: value }))),
        { x: "x", y: "y", r: 5, fill: paint },
      ),
      Plot.text(labels, {
        x: "toX",
        y: "toY",
        text: "text",
        textAnchor: "start",
        fill: "var(--text)",
        stroke: "var(--paper)",
        strokeWidth: 3,
      }),
    ],
  });
}

function shown(context: Context, points: Point[], count: number, all: Priced[], chooser: HTMLElement): HTMLElement {
  const left = all.map(({ mechanism }) => mechanism).filter((name) => !points.some((at) => at.mechanism === name));
  const n = thousands(count);
  return figure({
    id: "memory",
    title: `${n} ${count === 1 ? "context" : "contexts"}: memory against switch`,
    caption: `Bottom left is best. Across: one switch on one CPU in a ring of ${n} contexts, with its 95 % interval; of several variants the cheapest. Up: ${n} times the memory of one suspended context; the table has the number it was measured with. If only its family was measured for memory, a mechanism has that of the family. Both axes logarithmic.`,
    command: [...new Set(context.runs.map(typed))].slice(0, 4).join("; "),
    n: counted(points.flatMap((point) => [point.kept, point.switched])),
    picture: points.length === 0 ? null : scatter(context, points, count),
    tools: [chooser],
    below:
      left.length > 0 &&
      h(
        "p",
        { class: "fine" },
        `Switch not measured with ${n} contexts: ${left.join(", ")}. To measure it: `,
        h("code", {}, `switchcost run ${left[0]} --contexts ${count}`),
      ),
    table: {
      head: ["mechanism", "one switch", "in a ring of", "memory of one", "measured with", `memory of ${n}`],
      rows: [...points]
        .sort((a, b) => a.y - b.y)
        .map((point) => [
          point.mechanism,
          cost(point.switched),
          thousands(point.switched.result.contexts),
          cost(point.kept),
          `${point.kept.result.mechanism}, ${thousands(point.kept.result.contexts)}`,
          either(
            point.kept.figures.map((value) => value * count),
            BYTES,
          ),
        ]),
    },
  });
}
