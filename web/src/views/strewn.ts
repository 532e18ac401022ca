/** Rows of one label in one line, a mark for each figure of each: in several placements, or on several machines. */

import * as Plot from "@observablehq/plot";
import { type Context, colour } from "../context";
import { bimodal, cost, eachFigure, type Row } from "../data";
import { h } from "../dom";
import { type Figure, figure, pointed } from "../figure";
import { factor, type Quantity } from "../format";
import { COSTS, intervals, logAxis, rowPlot, tamed } from "../rowplot";
import { paged } from "./common";

/** What distinguishes the rows of a line. */
export interface Kind {
  title: string;
  symbol: Plot.SymbolType;
  fill: string;
  /** Without one it is that of the row's family. */
  stroke?: string;
}

export interface Line {
  label: string;
  /** Each with the place of its kind. */
  rows: { row: Row; kind: number }[];
}

/** Rows of a kind that the table names, and kinds that it has columns for. */
const [MOST_ROWS, MOST_KINDS] = [6, 12];

/** Cost of the most expensive row by that of the cheapest; no number if one of them is bimodal. */
function spread({ rows }: Line): string {
  if (rows.some(({ row }) => bimodal(row))) return "bimodal";
  const all = rows.flatMap(({ row }) => row.figures);
  return factor(Math.max(...all) / Math.min(...all));
}

/** The figure: `about` says what it is of. */
export function strewn(
  context: Context,
  all: Line[],
  kinds: Kind[],
  quantity: Quantity,
  about: Pick<Figure, "id" | "title" | "caption" | "command" | "n" | "below">,
): HTMLElement {
  const { shown, pager } = paged(all, context);
  const key = (line: Line): string => `l${shown.indexOf(line)}`;
  const marks = shown.flatMap((line) =>
    line.rows.map(({ row, kind }) => ({ ...row, key: key(line), kind: kinds[kind]! })),
  );
  const dots = eachFigure(marks);
  type Dot = (typeof dots)[number];
  const ends = shown.map((line) => {
    const all = eachFigure(line.rows.map(({ row }) => row)).map(({ value }) => value);
    return { key: key(line), low: Math.min(...all), high: Math.max(...all) };
  });
  const paint = (of: { family: string; kind: Kind }): string => of.kind.stroke ?? colour(of.family, context.data);
  const picture = rowPlot({
    items: shown.map((line) => ({ key: key(line), label: line.label, end: spread(line) })),
    width: context.width,
    x: logAxis(
      marks.flatMap((mark) => [...mark.figures, mark.low, mark.high]),
      quantity,
      context.width,
    ),
    ends: COSTS,
    marks: (seat) => [
      intervals(ends, "var(--faint)", { strokeWidth: 1, strokeOpacity: 1, strokeDasharray: "2,3", dy: seat.dy }),
      intervals(marks, paint, { dy: seat.dy }),
      Plot.dot(dots, {
        y: "key",
        x: "value",
        r: "radius",
        symbol: ({ row }: Dot) => row.kind.symbol,
        stroke: ({ row }: Dot) => paint(row),
        fill: ({ row }: Dot) => (row.kind.fill === "own" ? paint(row) : row.kind.fill),
        strokeWidth: 1.8,
        dy: seat.dy,
      }),
    ],
  });
  const short = ({ title }: Kind): string => title.split(":")[0]!;
  const tip = pointed(picture, "at the end of a line: most expensive ÷ cheapest", (key) => {
    const line = shown[Number(key.slice(1))];
    return (
      line && `${line.label}: ${line.rows.map(({ row, kind }) => `${short(kinds[kind]!)} ${cost(row)}`).join(" · ")}`
    );
  });
  const used = kinds
    .map((kind, nth) => ({ kind, nth }))
    .filter(({ nth }) => all.some(({ rows }) => rows.some(({ kind }) => kind === nth)));
  const legend = h("ul", { class: "legend" }, ...used.map(({ kind }) => h("li", {}, swatch(kind), kind.title)));
  const columns = used.slice(0, MOST_KINDS);
  const cell = ({ rows }: Line, nth: number): string =>
    rows
      .filter(({ kind }) => kind === nth)
      .slice(0, MOST_ROWS)
      .map(({ row }) => cost(row))
      .join(", ") || "–";
  return figure({
    ...about,
    picture,
    extra: [used.length > 1 && legend, tip, pager],
    table: {
      head: ["mechanism", ...columns.map(({ kind }) => kind.title), "most expensive ÷ cheapest"],
      rows: shown.map((line) => [line.label, ...columns.map(({ nth }) => cell(line, nth)), spread(line)]),
    },
  });
}

/** A symbol as it is drawn, for the list of kinds. */
function swatch({ symbol, fill, stroke = "var(--text)" }: Kind): Element {
  const own = fill === "own" ? stroke : fill;
  const dot = Plot.dot([0], { symbol, r: 5, stroke, fill: own, strokeWidth: 1.8, frameAnchor: "middle" });
  const picture = tamed(dot.plot({ width: 18, height: 18, margin: 0, axis: null, className: "plot" }));
  picture.setAttribute("aria-hidden", "true");
  return picture;
}
