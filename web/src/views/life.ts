import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import type { Row } from "../data";
import { h } from "../dom";
import { figure, nothing } from "../figure";
import { amount } from "../format";
import { logAxis, rowPlot } from "../rowplot";
import { paged } from "./common";

const SHOWN = ["switch", "create", "footprint"];
const TITLES: Record<string, string> = {
  switch: "Switch",
  create: "Create, enter once, destroy",
  footprint: "Memory of a live context",
};

/** What a context costs to have, beside what it costs to switch to. */
export function life(context: Context): HTMLElement[] {
  const name = (row: Row): string => `${row.result.mechanism} (${row.probe})`;
  // All runs: the experiments are usually measured one after the other.
  const rows = context.runs
    .flatMap((run) => (run === context.run ? context.rows : run.rows))
    .filter((row) => SHOWN.includes(row.experiment) && row.median !== null && !row.detail.control);
  const found = new Map<string, Map<string, Row>>();
  for (const row of rows) {
    const mine = found.get(name(row)) ?? new Map<string, Row>();
    // Of several variants the fastest stands for the mechanism.
    const known = mine.get(row.experiment);
    if (!known || (row.median ?? 0) < (known.median ?? 0)) mine.set(row.experiment, row);
    found.set(name(row), mine);
  }
  const lived = [...found].filter(([, of]) => of.has("create") || of.has("footprint"));
  if (lived.length === 0) {
    return [
      nothing(
        "No run here measured what a context costs to create or to keep. Measure that, and make one page of all three:",
        "switchcost run PATTERN --experiment create",
        "switchcost run PATTERN --experiment footprint",
        "switchcost report latest~2 latest~1 latest",
      ),
    ];
  }
  const { shown, pager } = paged(lived, context);
  const columns = SHOWN.filter((experiment) => shown.some(([, of]) => of.has(experiment)));
  const three = context.width >= 1000;
  const width = three ? Math.floor(context.width / columns.length) - 12 : context.width;
  const pictures = columns.map((experiment) => {
    const of = shown.flatMap(([name, of]) => (of.has(experiment) ? [{ name, row: of.get(experiment)! }] : []));
    const quantity = experiment === "footprint" ? "memory" : "time";
    const marks = of.map(({ name, row }) => ({
      key: name,
      median: row.median,
      low: row.low,
      high: row.high,
      family: row.family,
    }));
    const paint = (mark: { family: string }): string => colour(mark.family, context.data);
    const picture = rowPlot({
      items: shown.map(([name, all]) => ({
        key: name,
        label: name,
        ...(all.has(experiment) ? { end: amount(all.get(experiment)!.median, quantity) } : { words: "not measured" }),
      })),
      // Labels stand above the marks where three pictures share the page.
      width: Math.min(width, three ? 639 : width),
      x: logAxis(
        marks.map((mark) => mark.median),
        quantity,
        width,
      ),
      marks: (seat) => [
        Plot.link(
          marks.filter((mark) => mark.low !== null && mark.high !== null),
          { y: "key", x1: "low", x2: "high", stroke: paint, strokeWidth: 4, strokeOpacity: 0.5, dy: seat.dy },
        ),
        Plot.dot(marks, { y: "key", x: "median", r: 4.5, fill: paint, dy: seat.dy }),
      ],
    });
    return h("div", {}, h("h4", {}, TITLES[experiment] ?? experiment), picture);
  });
  return [
    figure({
      id: "life",
      title: "What a context costs: to switch to, to create, to keep",
      caption:
        "Medians with 95 % intervals, each axis logarithmic and of its own. Of several variants of a mechanism the fastest is shown.",
      command: [...new Set(context.runs.map(typed))].slice(0, 4).join("; "),
      n: counted(shown.flatMap(([, of]) => [...of.values()])),
      picture: h("div", { class: "columns" }, ...pictures),
      extra: [pager],
      table: {
        head: ["mechanism", "switch", "create", "memory", "of it resident", "virtual"],
        rows: shown.map(([name, of]) => [
          name,
          amount(of.get("switch")?.median ?? null, "time"),
          amount(of.get("create")?.median ?? null, "time"),
          amount(of.get("footprint")?.median ?? null, "memory"),
          ...["resident_bytes", "virtual_bytes"].map((part) =>
            amount(of.get("footprint")?.result.bytes[part] ?? null, "memory"),
          ),
        ]),
      },
    }),
  ];
}
