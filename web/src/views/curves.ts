import * as Plot from "@observablehq/plot";
import { type Context, colour, total, typed } from "../context";
import {
  bimodal,
  caches,
  cost,
  type Curve,
  curves as find,
  experimentOf,
  group,
  measured as measuredBy,
  type Point as Measured,
  positive,
} from "../data";
import { h, type Table } from "../dom";
import { figure, nothing } from "../figure";
import { amount, BYTES, digits, logTicks, type Quantity, TIME, tick } from "../format";
import { apart, spaced } from "../labels";
import { axes, drawn, logAxis, NARROW, wide } from "../rowplot";

/** Parameters that are sizes. */
const SIZES = /bytes|size|payload|working_set|stack$/;

/** Colours of the style sheet that lines take where families do not tell them apart: the most unlike first. */
const COLOURS = [1, 4, 3, 5, 7, 6, 2, 0];

/** Dashes and symbols by the place in the picture, so that curves differ without their colours. */
const DASHES = ["", "7,3", "2,3", "10,3,2,3", "4,4"];
const SYMBOLS = ["circle", "square", "triangle", "diamond", "cross", "star", "wye"] as const;
type Symbol = (typeof SYMBOLS)[number];

/** Curves in one picture: more cannot be distinguished. */
const MOST_CURVES = 10;

/** Pictures in one view: more would not be looked at, and keep a browser busy. */
const MOST_PICTURES = 24;

/** Pixels of a line of text. */
const LINE = 15;

/** Rows of a picture's table. */
const MOST_ROWS = 1000;

interface Point {
  x: number;
  y: number;
  low: number | null;
  high: number | null;
  curve: string;
  /** One of several figures: no line goes through it. */
  mode?: boolean;
}

interface Line {
  name: string;
  colour: string;
  dash: string;
  symbol: Symbol;
  points: Point[];
}

/** Cost against whatever number was varied. */
export function curves(context: Context): HTMLElement[] {
  const all = find(context.run, context.rows);
  if (all.length === 0) {
    return [
      nothing(
        "No rows here differ in one number only, at three values or more. To measure some:",
        "switchcost sweep contexts PATTERN",
        "switchcost run PATTERN --contexts 2,10,100,1000",
        "switchcost sweep payload PATTERN",
      ),
    ];
  }
  const groups = new Map<string, Curve[]>();
  for (const curve of all) group(groups, JSON.stringify([curve.axis, curve.experiment]), curve);
  const more =
    groups.size > MOST_PICTURES
      ? [nothing(`The first ${MOST_PICTURES} of ${groups.size} pictures; filters show others.`)]
      : [];
  return [...[...groups.values()].slice(0, MOST_PICTURES).map((curves) => one(context, curves)), ...more];
}

const family = (mechanism: string): string => mechanism.split("/")[0] ?? "";

/** Points that a logarithmic axis can show. */
function drawable(
  curve: string,
  points: { x: number; y: number | null; low: number | null; high: number | null; mode?: boolean }[],
): Point[] {
  return points.flatMap(({ y, low, high, ...rest }) =>
    positive(y) === null ? [] : [{ ...rest, y: y!, low: positive(low), high: positive(high), curve }],
  );
}

/** Curves as lines; with each that has a control the control's, drawn once, and the indirect cost where it is resolved. */
function asLines(context: Context, all: Curve[]): Line[] {
  const lines = new Map<string, Line>();
  const add = (name: string, of: string, points: Point[], look: Partial<Line> = {}): void => {
    const key = JSON.stringify([name, points]);
    if (points.length === 0 || lines.has(key)) return;
    const nth = lines.size;
    lines.set(key, {
      name,
      colour: colour(of, context.data),
      dash: DASHES[nth % DASHES.length] ?? "",
      symbol: SYMBOLS[nth % SYMBOLS.length] ?? "circle",
      points,
      ...look,
    });
  };
  const rows = new Map(context.run.rows.map((row) => [row.label, row]));
  const families = new Set(all.map(({ mechanism }) => family(mechanism)));
  const alike = families.size < all.length;
  for (const [nth, { mechanism, label, control, points }] of all.entries()) {
    add(
      label,
      family(mechanism),
      drawable(
        label,
        points.flatMap(({ x, result, median, low, high }) => {
          const row = rows.get(result);
          if (row && bimodal(row)) return row.figures.map((y) => ({ x, y, low: null, high: null, mode: true }));
          return [{ x, y: median, low, high }];
        }),
      ),
      alike ? { colour: `var(--f${COLOURS[nth % COLOURS.length]})` } : {},
    );
    const parts = points.flatMap(({ x, result, parts }) =>
      parts && !bimodal(rows.get(result)) ? [{ x, ...parts }] : [],
    );
    if (control === null || parts.length === 0) continue;
    const alone = `${control} alone`;
    const touches = parts.map((part) => {
      const row = rows.get(part.control_result);
      return { x: part.x, y: part.control, low: row?.low ?? null, high: row?.high ?? null };
    });
    add(alone, family(control), drawable(alone, touches));
    const rest = `${label}: indirect`;
    add(
      rest,
      family(mechanism),
      drawable(
        rest,
        parts.filter((part) => part.resolved).map(({ x, indirect, low, high }) => ({ x, y: indirect, low, high })),
      ),
      { colour: "var(--text)", dash: "1,3" },
    );
  }
  return [...lines.values()];
}

function one(context: Context, all: Curve[]): HTMLElement {
  // A control is drawn with the curves that it serves.
  const serving = new Set(all.flatMap((curve) => (curve.points.some((point) => point.parts) ? [curve.control] : [])));
  const own = all.filter((curve) => !serving.has(curve.mechanism));
  const first = own[0] ?? all[0]!;
  const lines = asLines(context, own.slice(0, MOST_CURVES));
  const points = lines.flatMap((line) => line.points);
  const quantity = measuredBy(first.experiment, context.data);
  const left = leftOut(context, first);
  const sizes = SIZES.test(first.axis);
  const label = (x: number): string => (sizes ? tick(x, BYTES) : digits(x).replace(/\.0+$/, ""));
  const measured = new Set(own.flatMap((curve) => curve.points.map((point) => point.result)));
  const split = own.some((curve) => curve.points.some((point) => point.parts));
  return figure({
    id: `curve-${first.experiment}-${first.axis.replace(/\W/g, "-")}`,
    title: `${experimentOf(first.experiment, context.data).title} by ${first.axis.replaceAll("_", " ")}`,
    caption: `Medians with 95 % intervals; both axes logarithmic.${split ? " Dotted: indirect cost, the total less the same work without a switch (alone) and less the switch without work (direct, at 0), taken round by round. If its interval holds 0, it is not drawn." : ""}${own.length > MOST_CURVES ? ` The first ${MOST_CURVES} of ${own.length} curves; filters show others.` : ""}`,
    command: typed(context.run),
    n: `${measured.size} rows, ${total(
      context.rows.filter((row) => measured.has(row.label)),
      (row) => row.result.starts,
    )} process runs`,
    picture: points.length === 0 ? null : picture(context, first, quantity, lines, gapsOf(own), label),
    below: left.length > 0 && h("p", { class: "fine" }, `Fewer than three points, so not drawn: ${left.join(", ")}.`),
    table: table(context, own.slice(0, MOST_CURVES), quantity, label, split),
  });
}

/** Every number as the host computed it: also those that are below 0, or not resolved, and stand in no picture. */
function table(
  context: Context,
  curves: Curve[],
  quantity: Quantity,
  label: (x: number) => string,
  split: boolean,
): Table {
  const rows = new Map(context.run.rows.map((row) => [row.label, row]));
  const mixed = (point: Measured): boolean => bimodal(rows.get(point.result));
  const written = (value: number | null): string => amount(value, quantity);
  const interval = (of: { low: number | null; high: number | null }): string =>
    of.low === null ? "–" : `${written(of.low)} – ${written(of.high)}`;
  const parts = (point: Measured): string[] => {
    const of = mixed(point) ? null : point.parts;
    return of
      ? [written(of.control), written(of.direct), written(of.indirect), interval(of), of.resolved ? "" : "not resolved"]
      : ["–", "–", "–", "–", ""];
  };
  const lines = curves.flatMap((curve) =>
    curve.points.map((point) => [
      curve.label,
      label(point.x),
      mixed(point) ? cost(rows.get(point.result)) : written(point.median),
      mixed(point) ? "–" : interval(point),
      ...(split ? parts(point) : []),
    ]),
  );
  return {
    head: [
      "curve",
      curves[0]?.axis ?? "",
      "median",
      "95 % interval",
      ...(split ? ["control alone", "direct", "indirect", "its 95 % interval", "resolved"] : []),
    ],
    rows: lines.slice(0, MOST_ROWS),
  };
}

/** The axis of a sweep: 0 has no logarithm, its tick stands before those of the others. */
function scaleX(axis: string, points: Point[], room: number, label: (x: number) => string): Plot.ScaleOptions {
  const xs = points.map((point) => point.x);
  const zero = xs.some((x) => x === 0);
  const domain: [number, number] = [xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b))];
  const each = [...new Set(xs)];
  const least = each.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), domain[1]);
  // On this axis 0 and 1 lie one unit of the logarithm apart.
  const place = (x: number): number => Math.log(zero ? 1 + x : x);
  const at = (x: number): number => ((place(x) - place(domain[0])) / (place(domain[1]) - place(domain[0]))) * room * 70;
  const ends = [...each].sort((a, b) => Number(domain.includes(b)) - Number(domain.includes(a)));
  const round = logTicks([least, domain[1]], SIZES.test(axis) ? BYTES : TIME, room);
  const ticks = spaced(each.length < room ? ends : [...(zero ? [0] : []), ...round], at, 46);
  return {
    type: zero ? "symlog" : "log",
    domain,
    label: `${axis.replaceAll("_", " ")} →`,
    ticks,
    tickFormat: label as (x: unknown) => string,
  } as Plot.ScaleOptions;
}

function picture(
  context: Context,
  { axis, unit }: Curve,
  quantity: Quantity,
  lines: Line[],
  gaps: Map<string, number[]>,
  label: (x: number) => string,
): SVGSVGElement | HTMLElement {
  const points = lines.flatMap((line) => line.points);
  const x = scaleX(axis, points, Math.max(3, Math.floor(context.width / 90)), label);
  const domain = x.domain as [number, number];
  const y = {
    ...logAxis(
      points.flatMap((point) => [point.y, point.low, point.high]),
      quantity,
      420,
    ),
    label: null,
  };
  const narrow = context.width < NARROW;
  const legend = lines.map((line, i) => ({ ...line, i }));
  const top = narrow ? 34 + 16 * lines.length : 34;
  const right = narrow ? 34 : Math.min(330, 34 + Math.max(...lines.map((line) => wide(line.name))));
  const ends = legend.flatMap(({ points, name, i }) => {
    const last = points.at(-1);
    return last ? [{ ...last, text: narrow ? letter(i) : name }] : [];
  });
  return drawn({
    width: context.width,
    height: 360 + top,
    marginTop: top,
    marginLeft: 64,
    marginRight: right,
    marginBottom: 50,
    x: { ...x, axis: null },
    y: { ...y, axis: null },
    symbol: { type: "identity" } as Plot.ScaleOptions,
    style: { fontSize: "12px", overflow: "visible" },
    marks: [
      Plot.gridY({ ticks: y.ticks, stroke: "var(--line)", strokeOpacity: 1 } as Plot.GridYOptions),
      ...axes({ x, y }),
      ...cacheMarks(axis === "working_set" ? caches(context.run) : [], domain),
      ...lines.flatMap((line) => [
        Plot.link(
          line.points.filter((point) => point.low !== null && point.high !== null),
          { x: "x", y1: "low", y2: "high", stroke: line.colour, strokeWidth: 3, strokeOpacity: 0.45 },
        ),
        ...runsOf(line.points, gaps.get(line.name) ?? []).map((points) =>
          Plot.line(points, { x: "x", y: "y", stroke: line.colour, strokeWidth: 2, strokeDasharray: line.dash }),
        ),
        Plot.dot(line.points, { x: "x", y: "y", fill: line.colour, r: 3.5, symbol: line.symbol }),
      ]),
      ...(narrow
        ? legend.map((line) =>
            Plot.text([`${letter(line.i)}  ${line.name}`], {
              frameAnchor: "top-left",
              dy: -top + 12 + 16 * line.i,
              dx: -40,
              fill: "var(--text)",
              lineWidth: context.width / 12,
              textOverflow: "ellipsis-end",
            } as Plot.TextOptions),
          )
        : []),
      Plot.text([`↑ ${quantity.name} per ${unit}`], {
        frameAnchor: "top-left",
        dx: -56,
        dy: -16,
        fill: "var(--text)",
      }),
      namesAtEnds(ends, context.width - right),
      Plot.tip(
        points,
        Plot.pointer({
          x: "x",
          y: "y",
          title: (point: Point) => `${point.curve}\n${axis} ${label(point.x)}: ${amount(point.y, quantity)}`,
          fill: "var(--paper)",
          stroke: "var(--line)",
        }),
      ),
    ],
  });
}

const letter = (i: number): string => String.fromCharCode(65 + (i % 26));

/** Where a curve has no figure, by its label. */
const gapsOf = (curves: Curve[]): Map<string, number[]> =>
  new Map(curves.map((curve) => [curve.label, curve.gaps.map((gap) => gap.x)]));

/** The parts of a curve that may be joined: not across a point without a figure, nor from nothing to something. */
function runsOf(points: Point[], gaps: number[]): Point[][] {
  const parts: Point[][] = [];
  points.forEach((point, i) => {
    const before = points[i - 1];
    const apart =
      before && (before.mode || point.mode || before.x === 0 || gaps.some((x) => x > before.x && x < point.x));
    if (!before || apart) parts.push([point]);
    else parts.at(-1)!.push(point);
  });
  return parts;
}

/** Rows of a sweep that are on no curve: none is left out without a word. */
function leftOut(context: Context, { axis, experiment }: Curve): string[] {
  if (context.run.data.axis === null) return [];
  const { curves } = context.run.data;
  const on = new Set(
    curves.flatMap((curve) =>
      curve.points.flatMap((point) => [point.result, ...(point.parts ? [point.parts.control_result] : [])]),
    ),
  );
  const own = curves.some((curve) => curve.axis === axis && curve.experiment === experiment);
  return own
    ? context.rows
        .filter(
          (row) => row.experiment === experiment && row.figures.length > 0 && !row.detail.control && !on.has(row.label),
        )
        .map((row) => row.label)
        .slice(0, 40)
    : [];
}

/** Lines where a cache ends. */
function cacheMarks(all: { name: string; bytes: number }[], [low, high]: [number, number]): Plot.Markish[] {
  const shown = all.filter(({ bytes }) => bytes > low && bytes < high);
  return [
    Plot.ruleX(shown, { x: "bytes", stroke: "var(--text)", strokeOpacity: 0.5, strokeDasharray: "1,3" }),
    Plot.text(shown, {
      x: "bytes",
      text: "name",
      frameAnchor: "bottom",
      dy: -6,
      dx: -3,
      textAnchor: "end",
      fill: "var(--faint)",
    }),
  ];
}

/** Names at the right, each as near to the end of its line as the others let it, with a line to it where they part. */
function namesAtEnds(ends: (Point & { text: string })[], right: number): Plot.Markish {
  return (_index, { x, y }, _values, _dimensions, { document }) => {
    const all = document.createElementNS("http://www.w3.org/2000/svg", "g");
    const add = (name: string, of: Record<string, string | number>, text = ""): void => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(of)) element.setAttribute(key, String(value));
      element.textContent = text;
      all.append(element);
    };
    const at = ends.map((end) => ({ text: end.text, x: Number(x!(end.x)), y: Number(y!(end.y)) }));
    const order = at.sort((a, b) => a.y - b.y);
    const places = apart(
      order.map((end) => end.y),
      LINE,
    );
    order.forEach((end, i) => {
      const place = places[i]!;
      if (Math.abs(place - end.y) > 2 || right - end.x > 2)
        add("path", {
          d: `M${end.x + 6},${end.y}L${right + 12},${place}`,
          stroke: "var(--faint)",
          "stroke-width": 0.7,
          fill: "none",
        });
      add("text", { x: right + 15, y: place, dy: "0.32em", "text-anchor": "start", fill: "var(--text)" }, end.text);
    });
    return all;
  };
}
