import * as Plot from "@observablehq/plot";
import { type Context, colour, typed } from "../context";
import { bimodal, cost, type Explained, type Row } from "../data";
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
        "This run lacks the rows that a cost is made of. To measure them:",
        "switchcost explain thread/futex",
        "switchcost report latest",
      ),
    ];
  // What was asked first; then what the layers explain, and last what they exceed.
  const asked = context.run.data.run.command.slice(2);
  const rank = ({ mechanism, residue }: Explained): number =>
    asked.includes(mechanism) ? 0 : bimodal(rowOf(mechanism, context)) ? 3 : residue.ns < 0 ? 2 : 1;
  return [...all]
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MOST)
    .map((one, nth) => waterfall(one, nth, context));
}

const rowOf = (label: string, { run }: Context): Row | undefined => run.rows.find((row) => row.label === label);

/** How much of the whole its layers are: `94 %`, `32 – 100 %` where the interval is wide. */
function explains({ predicted_per_measured: of }: Explained): string {
  if (of === null) return "–";
  const { ratio, low, high } = of;
  const wide = low !== null && high !== null && high - low > 0.1;
  return wide ? `${percent(low).replace(" %", "")} – ${percent(high)}` : percent(ratio);
}

/** What the picture shows, in a sentence. */
function answer(one: Explained): string {
  const { mechanism, figure, predicted_per_measured: of, residue } = one;
  if (of === null) return `The layers of ${mechanism} were not all measured.`;
  if (residue.ns >= 0 || (residue.high ?? 1) > 0) return `The layers explain ${explains(one)} of ${figure}.`;
  return `Measured alone, the layers cost ${duration(-residue.ns)} more than ${mechanism} as a whole: ${explains(one)} of ${figure}.`;
}

/** Words for what limits the rows of a layer, or of the whole. */
const limitsOf = ({ limits }: Explained, layer: number | null): string =>
  [
    ...new Set(
      limits.filter((row) => row.layer === layer).flatMap((row) => row.conditions.map(({ condition }) => condition)),
    ),
  ]
    .map((word) => word.replaceAll("_", " "))
    .join(", ");

/** What the layers leave, or lack. */
const restOf = ({ residue: { ns, high } }: Explained): string =>
  (high ?? ns) < 0 ? "less than its layers" : "unexplained rest";

function steps(one: Explained): Step[] {
  const { layers, residue, total, mechanism } = one;
  type Cost = Pick<Step, "ns" | "low" | "high" | "share">;
  const step = (key: string, name: string, from: number, of: Cost | null, kind: Step["kind"]): Step => {
    const { ns, low, high, share } = of ?? { ns: null, low: null, high: null, share: null };
    return { key, name, from, to: from + (ns ?? 0), ns, low, high, share, kind };
  };
  let height = 0;
  const found = layers.map((layer, i): Step => {
    const next = step(`l${i}`, layer.name, height, layer.cost, "layer");
    height = next.to;
    return next;
  });
  const rest = step("rest", restOf(one), height, residue, "residue");
  return [...found, rest, step("total", mechanism, 0, total, "total")];
}

function waterfall(one: Explained, nth: number, context: Context): HTMLElement {
  const row = rowOf(one.mechanism, context);
  if (bimodal(row))
    return nothing(
      `${one.mechanism} is bimodal here, ${cost(row)}: no one cost can be taken apart. On a quiet machine it may not be:`,
      `switchcost explain '${one.mechanism}'`,
    );
  const all = steps(one);
  const ends = all.flatMap(({ from, to, low, high }) => [from, to, from + (low ?? 0), from + (high ?? 0)]);
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
  const said = one.layers.map(({ name, why }) => [name, why]);
  if (one.residue_is) said.push([`${restOf(one)}, probably`, one.residue_is.what]);
  const why = said.map(([name, why]) => h("li", {}, h("strong", {}, name), `: ${why}`));
  return figure({
    id: `explain-${nth}`,
    title: `What ${one.mechanism} is made of`,
    caption: `${one.title}. Bars: means over ${one.total.rounds} rounds, each from where the one before ends; dark line: 95 % interval. ${one.sentence}`,
    command: typed(context.run),
    n: `${one.layers.length} ${one.layers.length === 1 ? "layer" : "layers"}, ${one.total.rounds} rounds`,
    picture,
    extra: [h("p", { class: "sentence" }, answer(one))],
    below: h("ul", { class: "said" }, ...why, ...one.notes.map((note) => h("li", {}, note))),
    table: {
      head: ["layer", "mean", "95 % interval", "measured as", "why not", "limits"],
      rows: [
        ...one.layers.map((layer, place) => [
          layer.name,
          duration(layer.cost?.ns ?? null),
          layer.cost?.low == null ? "–" : `${duration(layer.cost.low)} – ${duration(layer.cost.high)}`,
          layer.terms,
          layer.reason ?? "",
          limitsOf(one, place),
        ]),
        [
          restOf(one),
          duration(one.residue.ns),
          one.residue.low === null ? "–" : `${duration(one.residue.low)} – ${duration(one.residue.high)}`,
          one.residue_is?.what ?? "",
          "",
          limitsOf(one, null),
        ],
      ],
    },
  });
}
