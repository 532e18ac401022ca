import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import { brief, cost, eachFigure, experimentOf, measured, type Row } from "../data";
import { type Choice, h, select } from "../dom";
import { figure, nothing } from "../figure";
import { amount } from "../format";
import { COSTS, intervals, logAxis, rowPlot } from "../rowplot";
import { commands, paged } from "./common";

/** A part without its unit. */
const word = (part: string): string => part.replace(/_bytes$/, "");

/** What a context costs to have, beside what it costs to switch to. */
export function life(context: Context): HTMLElement[] {
  const { data } = context;
  const asked = data.experiments.filter((experiment) => experiment.asked);
  const name = (row: Row): string => `${row.result.mechanism} (${row.probe})`;
  // All runs: the experiments are usually measured one after the other.
  const rows = context.runs
    .flatMap((run) => (run === context.run ? context.rows : run.rows))
    .filter(
      (row) =>
        asked.some((experiment) => experiment.name === row.experiment) && row.figures.length > 0 && !row.detail.control,
    );
  const found = new Map<string, Map<string, Row>>();
  for (const row of rows) {
    const mine = found.get(name(row)) ?? new Map<string, Row>();
    // Of several variants the fastest stands for the mechanism.
    const known = mine.get(row.experiment);
    if (!known || row.figures[0]! < known.figures[0]!) mine.set(row.experiment, row);
    found.set(name(row), mine);
  }
  const lived = [...found].filter(([, of]) => [...of.keys()].some((name) => experimentOf(name, data).of_contexts));
  if (lived.length === 0) {
    return [
      nothing(
        "No run here measured creation or memory. Measure both, and make one page of all three:",
        ...commands(data, (experiment) => experiment.of_contexts),
        "switchcost report latest~2 latest~1 latest",
      ),
    ];
  }
  const { sort } = context.state;
  const family = ([, of]: [string, Map<string, Row>]): number =>
    data.families.findIndex(({ id }) => id === of.values().next().value?.family);
  const figureOf = ([, of]: [string, Map<string, Row>]): number => of.get(sort)?.figures[0] ?? Number.MAX_VALUE;
  if (sort) lived.sort((a, b) => family(a) - family(b) || figureOf(a) - figureOf(b));
  const { shown, pager } = paged(lived, context);
  const columns = asked.filter((experiment) => shown.some(([, of]) => of.has(experiment.name)));
  const choices = columns.map(({ name, short }): Choice => [name, short]);
  const three = context.width >= 1000;
  const width = three ? Math.floor(context.width / columns.length) - 12 : context.width;
  const pictures = columns.map(({ name: experiment, short }) => {
    const of = shown.flatMap(([name, of]) => (of.has(experiment) ? [{ name, row: of.get(experiment)! }] : []));
    const quantity = measured(experiment, data);
    const marks = of.map(({ name, row }) => ({ ...row, key: name }));
    const dots = eachFigure(marks);
    const paint = (mark: { family: string }): string => colour(mark.family, context.data);
    const picture = rowPlot({
      items: shown.map(([name, all]) => ({
        key: name,
        label: name,
        ...(all.has(experiment)
          ? { end: cost(all.get(experiment)), short: brief(all.get(experiment)!) }
          : { words: "not measured" }),
      })),
      // Labels stand above the marks where three pictures share the page.
      width: Math.min(width, three ? 639 : width),
      x: logAxis(
        dots.map((dot) => dot.value),
        quantity,
        width,
      ),
      ends: COSTS,
      marks: (seat) => [
        intervals(marks, paint, { dy: seat.dy }),
        Plot.dot(dots, { y: "key", x: "value", r: "radius", fill: paint, dy: seat.dy }),
      ],
    });
    return h("div", {}, h("h4", {}, short), picture);
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
      tools: [
        select("sort", "Sort by", [["", "the order of the runs"], ...choices], sort, (sort) => context.go({ sort })),
      ],
      extra: [pager],
      table: {
        head: [
          "mechanism",
          ...asked.flatMap(({ column, parts, beside }) => [
            column,
            ...parts.map((part) => `of it ${word(part)}`),
            ...beside.map(word),
          ]),
        ],
        rows: shown.map(([name, of]) => [
          name,
          ...asked.flatMap((experiment) => {
            const row = of.get(experiment.name);
            const figures = [...experiment.parts, ...experiment.beside].map((part) => row?.result.parts[part]);
            const quantity = measured(experiment.name, data);
            return [cost(row), ...figures.map((figure) => amount(figure ?? null, quantity))];
          }),
        ]),
      },
    }),
  ];
}
