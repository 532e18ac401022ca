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
  /** The axis is of costs: its words say which end is cheap. */
  costs?: boolean;
  /** Room that a line takes above and below its rule, where marks are pictures of their own. */
  tall?: { above: number; below: number };
  marks: (seat: Seat) => Plot.Markish[];
}

/** Below this width labels stand above their marks instead of beside them. */
export const NARROW = 640;
const CHARACTER = 6.7;
/** Height of such a label. */
const HEAD = 18;

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
function texts(
  items: Item[],
  width: number,
  left: number,
  right: number,
  longestEnd: number,
  height: number,
): Plot.Markish[] {
  const narrow = width < NARROW;
  // Above the marks: in the first half of a usual line.
  const head = narrow ? 9 - height / 2 : 0;
  const plain = items.filter((item) => !item.heading);
  const room = (pixels: number): number => Math.max(4, pixels / 13);
  // Above the marks a label may reach as far as its own words at the end let it.
  const whole = ({ label, end = "" }: Item): boolean => narrow && 6.2 * (label.length + end.length) + 8 < width;
  return [
    ...[true, false].map((fits) =>
      Plot.text(
        plain.filter((item) => whole(item) === fits),
        {
          y: "key",
          text: "label",
          title: "label",
          frameAnchor: "left",
          textAnchor: narrow ? "start" : "end",
          dx: narrow ? 0 : -10,
          dy: head,
          lineWidth: fits ? Infinity : narrow ? room(width - 24 - CHARACTER * longestEnd) : room(left - 12),
          textOverflow: "ellipsis-end",
        },
      ),
    ),
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
        text: "words",
        title: ({ words = "" }: Item) => [words, meaning(words)].filter(Boolean).join("\n"),
        frameAnchor: "left",
        textAnchor: "start",
        dx: 4,
        dy: narrow ? 9 : 0,
        fill: (item: Item) => (item.alarm ? "var(--alarm)" : "var(--faint)"),
        fontStyle: "italic",
        lineWidth: room(width - left - right - 8),
        textOverflow: "ellipsis-end",
      },
    ),
    Plot.text(
      items.filter((item) => item.heading),
      {
        y: "key",
        // What stands after the colon has no room on a phone.
        text: (item: Item) => (narrow ? item.label.split(":")[0] : item.label),
        frameAnchor: "left",
        textAnchor: "start",
        dx: narrow ? 0 : -left + 4,
        dy: narrow ? 6 : 2,
        fontWeight: 600,
        fill: "var(--text)",
        lineWidth: room(width - 20),
        textOverflow: "ellipsis-end",
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
export function rowPlot({ items, width, x, costs, tall, marks }: RowPlot): SVGSVGElement | HTMLElement {
  const narrow = width < NARROW;
  const longest = (text: (item: Item) => string): number =>
    items.reduce((most, item) => Math.max(most, text(item).length), 0);
  const plain = items.filter((item) => !item.heading);
  // Half of the label of 0 stands left of the axis.
  const left = narrow
    ? x.type === "log"
      ? 6
      : 16
    : Math.min(width * 0.36, 30 + CHARACTER * longest((item) => (item.heading ? "" : item.label)));
  const right = narrow ? 10 : Math.min(240, 22 + CHARACTER * longest((item) => item.end ?? ""));
  const head = narrow ? HEAD : 0;
  const height = tall ? head + tall.above + tall.below : narrow ? 36 : 19;
  const inner = width - left - right;
  // A tick's label that would be cut off at an end of the axis is left out; its line stays.
  const [from, to] = (x.domain as [number, number] | undefined) ?? [1, 1];
  const whole = (value: number, text: string): boolean => {
    const at = left + (Math.log(value / from) / Math.log(to / from)) * inner;
    return at > text.length * 3.4 && at < width - text.length * 3.4;
  };
  const label = x.tickFormat as ((value: number) => string) | undefined;
  const written = (value: number): string => (whole(value, label!(value)) ? label!(value) : "");
  const inside = (x.type === "log" && label ? { ...x, tickFormat: written } : x) as Plot.ScaleOptions;
  const seat: Seat = tall
    ? { dy: height / 2 - tall.below, insetTop: head, insetBottom: tall.below, height, inner }
    : narrow
      ? { dy: 9, insetTop: 21, insetBottom: 3, height, inner }
      : { dy: 0, insetTop: 4, insetBottom: 4, height, inner };
  return drawn({
    width,
    height: items.length * height + (costs ? 60 : 44),
    marginTop: 22,
    marginBottom: costs ? 38 : 22,
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
      ...(costs ? ["← cheaper", "more expensive →"] : []).map((text, i) =>
        Plot.text([text], { frameAnchor: i ? "bottom-right" : "bottom-left", dy: 34, fill: "var(--faint)" }),
      ),
      Plot.ruleY(plain, { y: "key", stroke: "var(--line)", strokeOpacity: 0.5, dy: seat.dy }),
      ...texts(
        items,
        width,
        left,
        right,
        longest((item) => item.end ?? ""),
        height,
      ),
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
