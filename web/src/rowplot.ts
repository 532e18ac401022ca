/** Pictures that have a line for each row: label, marks on a common axis, a word at the end. */

import * as Plot from "@observablehq/plot";
import { meaning } from "./verdicts";
import { logTicks, type Quantity, tick } from "./format";

export interface Item {
  key: string;
  label: string;
  /** Stands above the rows of its group. */
  heading?: boolean;
  /** At the end of the line. */
  end?: string;
  /** The same in few words: where a phone has no room for it beside the label. */
  short?: string;
  /** In the place of marks: why there are none. */
  words?: string;
  /** The words are a warning. */
  alarm?: boolean;
}

/** How marks sit in their line. */
export interface Seat {
  dy: number;
  insetTop: number;
  insetBottom: number;
  /** Pixels of the whole line. */
  height: number;
  /** Pixels from one end of the axis to the other. */
  inner: number;
}

export interface RowPlot {
  items: Item[];
  width: number;
  x: Plot.ScaleOptions;
  /** What lies at either end of the axis. */
  ends?: readonly [low: string, high: string];
  /** Room that a line takes above and below its rule, where marks are pictures of their own. */
  tall?: { above: number; below: number };
  marks: (seat: Seat) => Plot.Markish[];
}

/** Ends of an axis of costs. */
export const COSTS = ["cheaper", "more expensive"] as const;

/** Below this width labels stand above their marks instead of beside them. */
export const NARROW = 640;
/** Room between a row's name and its figure. */
const GAP = 10;
/** Pixels between the labels of ticks. */
const TICKS = 10;
/** Height of such a label. */
const HEAD = 18;

let pen: CanvasRenderingContext2D | null = null;

/** Pixels that a text of a picture takes, in the font of this browser. */
export function wide(text: string): number {
  if (!pen) {
    pen = document.createElement("canvas").getContext("2d")!;
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  }
  return pen.measureText(text).width;
}

/** As much of a text as so many pixels hold. What tells names apart stands at their ends, so that these are cut in the middle. */
function fitted(text: string, room: number, cut: "middle" | "end" = "middle"): string {
  if (wide(text) <= room) return text;
  const short = (kept: number): string => {
    const tail = cut === "middle" ? Math.floor(kept / 2) : 0;
    return `${text.slice(0, kept - tail).trimEnd()}…${text.slice(text.length - tail).trimStart()}`;
  };
  let [fits, most] = [0, text.length];
  while (most - fits > 1) {
    const kept = Math.floor((fits + most) / 2);
    if (wide(short(kept)) <= room) fits = kept;
    else most = kept;
  }
  return short(fits);
}

/** A logarithmic axis over these values. */
export function logAxis(values: (number | null)[], quantity: Quantity, width: number): Plot.ScaleOptions {
  const found = values.filter((value): value is number => value !== null && value > 0);
  const low = found.reduce((a, b) => Math.min(a, b), Infinity);
  const high = found.reduce((a, b) => Math.max(a, b), 0);
  const margin = Math.max((high / low) ** 0.04, 1.02);
  const domain: [number, number] = high > 0 ? [low / margin, high * margin] : [1, 10];
  const ticks = logTicks(domain, quantity, Math.max(3, Math.floor(width / (width < NARROW ? 58 : 75))));
  return {
    type: "log",
    domain,
    ticks,
    tickFormat: (value: number) => tick(value, quantity),
    label: null,
  } as Plot.ScaleOptions;
}

/** An axis mark: with ticks as data, or as options. */
type Axis = (...of: [data: number[], options: object] | [options: object]) => Plot.Markish;

/** Axes of a picture, every tick with its label: logarithmic scales would leave some out where there is room for all. */
export function axes(
  of: { x?: Plot.ScaleOptions; y?: Plot.ScaleOptions },
  options: Plot.AxisXOptions & Plot.AxisYOptions = {},
): Plot.Markish[] {
  const draw = (scale: Plot.ScaleOptions, axis: Axis): Plot.Markish => {
    const { ticks, tickFormat, label = null } = scale;
    if (!Array.isArray(ticks) || typeof tickFormat !== "function")
      return axis({
        label,
        ...(ticks === undefined ? {} : { ticks }),
        ...(tickFormat ? { tickFormat } : {}),
        ...options,
      });
    return axis(ticks as number[], {
      label,
      text: (value: number) => (tickFormat as (value: number) => string)(value),
      ...options,
    });
  };
  return [...(of.x ? [draw(of.x, Plot.axisX as Axis)] : []), ...(of.y ? [draw(of.y, Plot.axisY as Axis)] : [])];
}

/** Takes out of a plot what the page does not allow. */
export function tamed<T extends Element>(picture: T): T {
  // The page's policy forbids a style element; its style sheet has the same rules.
  for (const style of picture.querySelectorAll("style")) style.remove();
  // Groups without a role must not be named; the picture as a whole is.
  for (const group of picture.querySelectorAll("g[aria-label]")) {
    group.setAttribute("data-mark", group.getAttribute("aria-label") ?? "");
    group.removeAttribute("aria-label");
  }
  return picture;
}

export const drawn = (options: Plot.PlotOptions): SVGSVGElement | HTMLElement =>
  tamed(Plot.plot({ className: "plot", ...options }));

/** Labels, words at the end, words instead of a mark, and titles of families. */
function texts(items: Item[], width: number, left: number, right: number, height: number): Plot.Markish[] {
  const narrow = width < NARROW;
  // Above the marks: in the first half of a usual line.
  const head = narrow ? 9 - height / 2 : 0;
  const plain = items.filter((item) => !item.heading);
  // Above the marks a label may reach as far as its own words at the end let it.
  const room = ({ end = "" }: Item): number =>
    narrow ? width - left - right - wide(end) - (end ? GAP : 0) : left - 12;
  return [
    Plot.text(plain, {
      y: "key",
      text: (item: Item) => fitted(item.label, room(item)),
      title: "label",
      frameAnchor: "left",
      textAnchor: narrow ? "start" : "end",
      dx: narrow ? 0 : -10,
      dy: head,
    }),
    Plot.text(plain, {
      y: "key",
      text: "end",
      title: ({ end = "" }: Item) => meaning(end),
      frameAnchor: "right",
      textAnchor: narrow ? "end" : "start",
      dx: narrow ? 0 : 10,
      dy: head,
      fontVariant: "tabular-nums",
    }),
    Plot.text(
      items.filter((item) => item.words),
      {
        y: "key",
        text: ({ words = "" }: Item) => fitted(words, width - left - right - 8, "end"),
        title: ({ words = "" }: Item) => [words, meaning(words)].filter(Boolean).join("\n"),
        frameAnchor: "left",
        textAnchor: "start",
        dx: 4,
        dy: narrow ? 9 : 0,
        fill: (item: Item) => (item.alarm ? "var(--alarm)" : "var(--faint)"),
        fontStyle: "italic",
      },
    ),
    Plot.text(
      items.filter((item) => item.heading),
      {
        y: "key",
        // What stands after the colon has no room on a phone.
        text: ({ label }: Item) => fitted(narrow ? label.split(":")[0]! : label, (width - 20) / 1.1, "end"),
        frameAnchor: "left",
        textAnchor: "start",
        dx: narrow ? 0 : -left + 4,
        dy: narrow ? 6 : 2,
        fontWeight: 600,
        fill: "var(--text)",
      },
    ),
  ];
}

/** A bar over each interval, in its row, or at its place along `x`. */
export function intervals<T extends { low: number | null; high: number | null }>(
  all: T[],
  stroke: string | ((of: T) => string),
  options: Plot.LinkOptions,
): Plot.Markish {
  const ends = "x" in options ? { y1: "low", y2: "high" } : { y: "key", x1: "low", x2: "high" };
  const look = { stroke, strokeWidth: 4, strokeOpacity: 0.5, strokeLinecap: "round" };
  const seen = all.filter(({ low, high }) => low !== null && low > 0 && high !== null);
  return Plot.link(seen, { ...ends, ...look, ...options } as Plot.LinkOptions);
}

/** Draws it. */
export function rowPlot({ items: all, width, x, ends, tall, marks }: RowPlot): SVGSVGElement | HTMLElement {
  const narrow = width < NARROW;
  const beside = ({ label, end = "" }: Item): boolean => wide(label) + GAP + wide(end) < width - 26;
  const items = all.map((item) => (item.short && narrow && !beside(item) ? { ...item, end: item.short } : item));
  const longest = (text: (item: Item) => string): number =>
    items.reduce((most, item) => Math.max(most, wide(text(item))), 0);
  const plain = items.filter((item) => !item.heading);
  // Half of the label of 0 stands left of the axis.
  const left = narrow
    ? x.type === "log"
      ? 6
      : 16
    : Math.min(width * 0.36, 30 + longest((item) => (item.heading ? "" : item.label)));
  const right = narrow ? 10 : Math.min(280, 22 + longest((item) => item.end ?? ""));
  const head = narrow ? HEAD : 0;
  const height = tall ? head + tall.above + tall.below : narrow ? 36 : 19;
  const inner = width - left - right;
  // A tick's label that would be cut off at an end of the axis, or lie on another, is left out; its line stays. Rather powers of ten alone than some of all.
  const [from, to] = (x.domain as [number, number] | undefined) ?? [1, 1];
  const label = x.tickFormat as ((value: number) => string) | undefined;
  const linear = x.type === undefined && label !== undefined;
  const share = (value: number): number =>
    linear ? (value - from) / (to - from) : Math.log(value / from) / Math.log(to / from);
  const at = (value: number): number => left + share(value) * inner;
  const half = (value: number): number => wide(label!(value)) / 2;
  const whole = (value: number): boolean => at(value) > half(value) && at(value) < width - half(value);
  const ticks = x.type === "log" && label && Array.isArray(x.ticks) ? (x.ticks as number[]) : [];
  const seen = ticks.filter(whole);
  const free = (of: number[]): number[] =>
    of.reduce<number[]>((kept, value) => {
      const apart = (one: number): boolean => Math.abs(at(one) - at(value)) > half(one) + half(value) + TICKS;
      return kept.every(apart) ? [...kept, value] : kept;
    }, []);
  const powers = seen.filter((value) => value.toExponential().startsWith("1e"));
  const labelled = new Set(free(free(seen).length < seen.length && powers.length > 1 ? powers : seen));
  const written = (value: number): string => ((linear ? whole(value) : labelled.has(value)) ? label!(value) : "");
  const inside = (linear || ticks.length > 0 ? { ...x, tickFormat: written } : x) as Plot.ScaleOptions;
  const seat: Seat = tall
    ? { dy: height / 2 - tall.below, insetTop: head, insetBottom: tall.below, height, inner }
    : narrow
      ? { dy: 9, insetTop: 21, insetBottom: 3, height, inner }
      : { dy: 0, insetTop: 4, insetBottom: 4, height, inner };
  return drawn({
    width,
    height: items.length * height + (ends ? 60 : 44),
    marginTop: 22,
    marginBottom: ends ? 38 : 22,
    marginLeft: left,
    marginRight: right,
    x: { ...x, axis: null },
    y: { type: "band", domain: items.map((item) => item.key), axis: null, padding: 0 },
    color: { type: "identity" },
    r: { type: "identity" } as Plot.ScaleOptions,
    symbol: { type: "identity" } as Plot.ScaleOptions,
    style: { fontSize: "12px", overflow: "visible" },
    marks: [
      Plot.gridX({
        stroke: "var(--line)",
        strokeOpacity: 1,
        ...(x.ticks ? { ticks: x.ticks } : {}),
      } as Plot.GridXOptions),
      ...axes({ x: inside }, { anchor: "top", tickSize: 0 }),
      ...axes({ x: inside }, { anchor: "bottom", tickSize: 0 }),
      ...(ends ? [`← ${ends[0]}`, `${ends[1]} →`] : []).map((text, i) =>
        Plot.text([text], { frameAnchor: i ? "bottom-right" : "bottom-left", dy: 34, fill: "var(--faint)" }),
      ),
      Plot.ruleY(plain, { y: "key", stroke: "var(--line)", strokeOpacity: 0.5, dy: seat.dy }),
      ...texts(items, width, left, right, height),
      ...marks(seat),
    ],
  });
}

/** Key of the row at a point of such a picture. */
export function rowAt(picture: Element, event: MouseEvent): string | undefined {
  const scale = (picture as unknown as Plot.Plot).scale("y");
  const box = picture.getBoundingClientRect();
  const view = (picture as SVGSVGElement).viewBox.baseVal;
  const y = ((event.clientY - box.top) / box.height) * view.height;
  const step = scale?.bandwidth ?? 0;
  return (scale?.domain as string[] | undefined)?.find((key) => {
    const top = scale!.apply(key) as number;
    return y >= top && y < top + step;
  });
}
