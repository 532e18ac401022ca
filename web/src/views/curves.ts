import * as Plot from "@observablehq/plot";
import { type Context, colour, typed } from "../context";
import { type Curve, curves as find, group, indirect } from "../data";
import { figure, nothing } from "../figure";
import { amount, digits, logTicks, type Quantity, tick } from "../format";
import { axes, drawn, logAxis } from "../rowplot";

/** Parameters that are sizes. */
const BYTES = /bytes|size|payload|working_set|stack$/;

const DASHES = ["", "7,3", "2,3", "10,3,2,3", "4,4"];

/** The same in writing. */
const STROKES: Record<string, string> = { "": "──", "7,3": "─ ─", "2,3": "····", "10,3,2,3": "─ ·", "4,4": "- - -", "1,3": "····" };

/** Curves in one picture: more cannot be told apart. */
const MOST_CURVES = 10;

interface Point {
  x: number;
  y: number;
  low: number | null;
  high: number | null;
  curve: string;
}

interface Line {
  name: string;
  colour: string;
  dash: string;
  points: Point[];
}

/** Cost against whatever number was varied. */
export function curves(context: Context): HTMLElement[] {
  const all = find(context.rows);
  if (all.length === 0) {
    return [nothing("No rows here differ in one number only, at three values or more. Such rows come from:", "switchcost sweep contexts PATTERN", "switchcost run PATTERN --contexts 2,10,100,1000", "switchcost run PATTERN --experiment message --param payload=1,1024,65536")];
  }
  const groups = new Map<string, Curve[]>();
  for (const curve of all) {
    const key = JSON.stringify([curve.parameter, curve.experiment]);
    group(groups, key, curve);
  }
  return [...groups.values()].map((curves) => one(context, curves));
}

function asLines(context: Context, all: Curve[]): Line[] {
  const perFamily = new Map<string, number>();
  const line = (curve: Curve): Line => {
    const nth = perFamily.get(curve.family) ?? 0;
    perFamily.set(curve.family, nth + 1);
    const points = curve.points.map(({ x, row }) => ({ x, y: row.median ?? 0, low: row.low, high: row.high, curve: curve.label }));
    return { name: curve.label, colour: colour(curve.family, context.data), dash: DASHES[nth % DASHES.length] ?? "", points };
  };
  const lines = all.map(line);
  const controls = all.filter((curve) => curve.control);
  for (const curve of all.filter((curve) => !curve.control)) {
    for (const control of controls) {
      const name = `${curve.label} − ${control.label}`;
      const points = indirect(curve, control).map(({ x, y }) => ({ x, y, low: null, high: null, curve: name }));
      if (points.length > 1) lines.push({ name, colour: "var(--text)", dash: "1,3", points });
    }
  }
  return lines;
}

function one(context: Context, all: Curve[]): HTMLElement {
  const [first] = all as [Curve];
  const lines = asLines(context, all.slice(0, MOST_CURVES));
  const points = lines.flatMap((line) => line.points);
  const quantity: Quantity = first.quantity;
  const xs = points.map((point) => point.x);
  const zero = xs.some((x) => x === 0);
  const domain: [number, number] = [Math.min(...xs), Math.max(...xs)];
  const sizes = BYTES.test(first.parameter);
  const label = (x: number): string => (sizes ? tick(x, "bytes") : digits(x).replace(/\.0+$/, ""));
  const room = Math.max(3, Math.floor(context.width / 90));
  const y = { ...logAxis(points.flatMap((point) => [point.y, point.low, point.high]), quantity, 420), label: null };
  const x: Plot.ScaleOptions = { type: zero ? "symlog" : "log", domain, label: `${first.parameter.replaceAll("_", " ")} →`, ...(zero ? {} : { ticks: xs.length < room ? [...new Set(xs)] : logTicks(domain, sizes ? "bytes" : "time", room) }), tickFormat: label as (x: unknown) => string } as Plot.ScaleOptions;
  const split = context.width < 640;
  const legend = lines.map((line, i) => ({ ...line, i }));
  const top = split ? 14 + 16 * lines.length : 20;
  const ends = legend.flatMap((line) => line.points.at(-1) ?? []);
  const picture = drawn({
    width: context.width,
    height: 360 + top,
    marginTop: top,
    marginLeft: 64,
    marginRight: split ? 16 : Math.min(330, 30 + 6.7 * Math.max(...lines.map((line) => line.name.length))),
    marginBottom: 42,
    x: { ...x, axis: null },
    y: { ...y, axis: null },
    style: { fontSize: "12px", overflow: "visible" },
    marks: [
      Plot.gridY({ ticks: y.ticks, stroke: "var(--line)", strokeOpacity: 1 } as Plot.GridYOptions),
      ...axes({ x, y }),
      ...lines.flatMap((line) => [
        Plot.link(line.points.filter((point) => point.low !== null && point.high !== null), { x: "x", y1: "low", y2: "high", stroke: line.colour, strokeWidth: 3, strokeOpacity: 0.45 }),
        Plot.line(line.points, { x: "x", y: "y", stroke: line.colour, strokeWidth: 2, strokeDasharray: line.dash }),
        Plot.dot(line.points, { x: "x", y: "y", fill: line.colour, r: 3 }),
      ]),
      ...(split
        ? legend.map((line) => Plot.text([`${STROKES[line.dash] ?? ""} ${line.name}`], { frameAnchor: "top-left", dy: -top + 12 + 16 * line.i, dx: -40, fill: line.colour, lineWidth: context.width / 12, textOverflow: "ellipsis-end" } as Plot.TextOptions))
        : [Plot.text(ends, spread(ends, y))]),
      Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: (point: Point) => `${point.curve}\n${first.parameter} ${label(point.x)}: ${amount(point.y, quantity)}`, fill: "var(--paper)", stroke: "var(--line)" })),
    ],
  });
  const subtracted = lines.length > Math.min(all.length, MOST_CURVES);
  return figure({
    id: `curve-${first.experiment}-${first.parameter.replace(/\W/g, "-")}`,
    title: `${first.experiment}: cost against ${first.parameter.replaceAll("_", " ")}`,
    caption: `Medians with their 95 % intervals, in ${first.unit === "switch" ? "time per switch" : `time per ${first.unit}`}; both axes logarithmic.${subtracted ? " Dotted: what is left when the cost of the same work without a switch is taken off: what the switch costs directly, and indirectly by what it does to caches." : ""}${all.length > MOST_CURVES ? ` The first ${MOST_CURVES} of ${all.length} curves; filters show others.` : ""}`,
    command: typed(context.run),
    n: `${points.length} rows, ${all.flatMap((curve) => curve.points).reduce((sum, point) => sum + point.row.result.invocations, 0)} starts of a probe`,
    picture,
    table: { head: ["curve", first.parameter, "median", "95 % interval"], rows: points.map((point) => [point.curve, label(point.x), amount(point.y, quantity), point.low === null ? "–" : `${amount(point.low, quantity)} – ${amount(point.high, quantity)}`]) },
  });
}

/** Labels at the ends of lines, moved apart where they would lie on one another. */
function spread(ends: Point[], y: Plot.ScaleOptions): Plot.TextOptions {
  const [low, high] = y.domain as [number, number];
  const pixel = (value: number): number => 300 * (1 - Math.log(value / low) / Math.log(high / low));
  const order = ends.map((end, i) => ({ i, at: pixel(end.y) })).sort((a, b) => a.at - b.at);
  const shift = new Map<Point, number>();
  let last = -Infinity;
  for (const { i, at } of order) {
    const placed = Math.max(at, last + 15);
    shift.set(ends[i]!, placed - at);
    last = placed;
  }
  const text = (point: Point): string => point.curve;
  // An offset of its own for each text needs a channel; lines of nothing above the text do the same.
  return { x: "x", y: "y", text: (point: Point) => text(point), dx: 10, textAnchor: "start", fill: "var(--text)", render: (index, scales, values, dimensions, context, next) => {
    const group = next!(index, scales, values, dimensions, context)!;
    [...group.children].forEach((child, i) => {
      const [x, y] = /translate\(([-\d.]+),([-\d.]+)\)/.exec(child.getAttribute("transform") ?? "")?.slice(1).map(Number) ?? [0, 0];
      child.setAttribute("transform", `translate(${x},${(y ?? 0) + (shift.get(ends[index[i]!]!) ?? 0)})`);
    });
    return group;
  } } as Plot.TextOptions;
}
