import * as Plot from "@observablehq/plot";
import { type Context, colour, typed } from "../context";
import { bimodal, cost, type Explained } from "../data";
import { h } from "../dom";
import { figure, nothing } from "../figure";
import { duration, percent } from "../format";
import { rowPlot } from "../rowplot";

/** Pictures in one view. */
const MOST = 24;

interface Step {
  key: string;
  name: string;
  from: number;
  to: number;
  low: number | null;
  high: number | null;
  ns: number | null;
  share: number | null;
  kind: "layer" | "residue" | "total";
}

/** Layers of a cost, as the host computed them. */
export function explain(context: Context): HTMLElement[] {
  const all = context.run.data.explained;
  if (all.length === 0)
    return [
      nothing(
        "This run does not hold the rows that a cost is taken apart by. One that does comes from:",
        "switchcost explain thread/futex",
        "switchcost report latest",
      ),
    ];
  return all.slice(0, MOST).map((one, nth) => waterfall(one, nth, context));
}

function steps({ layers, residue, total, mechanism }: Explained): Step[] {
  type Cost = Pick<Step, "ns" | "low" | "high" | "share">;
  const step = (key: string, name: string, from: number, of: Cost | null, kind: Step["kind"]): Step => {
    const { ns, low, high, share } = of ?? { ns: null, low: null, high: null, share: null };
    return { key, name, from, to: from + (ns ?? 0), ns, low, high, share, kind };
  };
  let height = 0;
  const found = layers.map((layer, i): Step => {
    const one = step(`l${i}`, layer.name, height, layer.cost, "layer");
    height = one.to;
    return one;
  });
  const rest = step("rest", "unexplained rest", height, residue, "residue");
  return [...found, rest, step("total", mechanism, 0, total, "total")];
}

function waterfall(one: Explained, nth: number, context: Context): HTMLElement {
  const row = context.run.rows.find((row) => row.label === one.mechanism);
  if (bimodal(row)) return nothing(`${one.mechanism} is bimodal, ${cost(row)}: no one cost can be taken apart.`);
  const all = steps(one);
  const ends = all.flatMap((step) => [step.from, step.to]);
  const paint = (step: Step): string =>
    step.kind === "residue" ? "var(--faint)" : colour(one.mechanism.split("/")[0] ?? "", context.data);
  const domain: [number, number] = [Math.min(0, ...ends), Math.max(1, ...ends) * 1.02];
  const picture = rowPlot({
    items: all.map((step) => ({
      key: step.key,
      label: step.name,
      // A part whose interval holds 0 has no share.
      end:
        step.ns === null
          ? "not measured"
          : `${duration(step.ns)}${step.share === null ? "" : `  ${percent(step.share)}`}`,
    })),
    width: context.width,
    x: {
      domain,
      ticks: Math.max(3, Math.min(8, context.width / 110)),
      tickFormat: ((value: number) => (value === 0 ? "0" : duration(value))) as (x: unknown) => string,
      label: null,
    } as unknown as Plot.ScaleOptions,
    marks: (seat) => [
      Plot.link(
        all.filter((step) => step.ns !== null),
        {
          y: "key",
          x1: "from",
          x2: "to",
          stroke: paint,
          strokeOpacity: (step: Step) => (step.kind === "layer" ? 0.65 : 1),
          strokeWidth: 11,
          strokeLinecap: "butt",
          dy: seat.dy,
        } as Plot.LinkOptions,
      ),
      // The end of an interval, from where the layer begins.
      Plot.link(
        all.filter((step) => step.low !== null && step.high !== null),
        {
          y: "key",
          x1: (step: Step) => step.from + (step.low ?? 0),
          x2: (step: Step) => step.from + (step.high ?? 0),
          stroke: "var(--text)",
          strokeWidth: 1.5,
          dy: seat.dy,
        },
      ),
    ],
  });
  const why = one.layers.map((layer) => h("li", {}, h("strong", {}, layer.name), `: ${layer.why}`));
  return figure({
    id: `explain-${nth}`,
    title: `${one.mechanism}: where ${one.figure} go`,
    caption: `${one.title}. Bars: means over ${one.total.rounds} rounds, each from where the one before ends; dark line: 95 % interval. ${one.sentence}`,
    command: typed(context.run),
    n: `${one.layers.length} layers, ${one.total.rounds} rounds`,
    picture,
    below: h("ul", { class: "said" }, ...why, ...one.notes.map((note) => h("li", {}, note))),
    table: {
      head: ["layer", "mean", "95 % interval", "measured as", "why not"],
      rows: [
        ...one.layers.map((layer) => [
          layer.name,
          duration(layer.cost?.ns ?? null),
          layer.cost?.low == null ? "–" : `${duration(layer.cost.low)} – ${duration(layer.cost.high)}`,
          layer.terms,
          layer.reason ?? "",
        ]),
        [
          "unexplained rest",
          duration(one.residue.ns),
          one.residue.low === null ? "–" : `${duration(one.residue.low)} – ${duration(one.residue.high)}`,
          one.residue_is?.what ?? "",
          "",
        ],
      ],
    },
  });
}
