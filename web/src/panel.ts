/** What there is to know of one row: opened by a click on it. */

import { type Context, familyTitle } from "./context";
import { bimodal, cost, experimentOf, literatureOf, type Row } from "./data";
import { h } from "./dom";
import { amount, digits, factor, percent } from "./format";
import { author, quoted } from "./literature";
import type { PerUnit } from "./page";
import { rate } from "./views/evidence";

/** Starts told one by one. */
const MOST_STARTS = 60;

const part = (term: string, ...of: (Node | string)[]): HTMLElement[] => [h("dt", {}, term), h("dd", {}, ...of)];

function figures(row: Row, reference: string | null, batches: boolean): HTMLElement[] {
  const { quantity, result } = row;
  const of = (value: number | null): string => amount(value, quantity);
  if (row.figures.length === 0)
    return part("Figure", `none: ${result.verdict}${result.reason ? `, ${result.reason}` : ""}`);
  return [
    ...part("Figure", `${bimodal(row) ? "bimodal: " : ""}${cost(row)} per ${result.unit}`),
    ...part("95 % interval", row.low === null ? `none: ${without(row)}` : `${of(row.low)} – ${of(row.high)}`),
    ...(result.as_measured === null || result.as_measured === row.median
      ? []
      : part("All batches, as measured", of(result.as_measured))),
    ...(batches
      ? part("Batches", `fastest ${of(row.min)}, 90 % below ${of(result.p90)}, 99 % below ${of(row.p99)}`)
      : []),
    ...(result.times_reference === null || result.times_reference === 1 || reference === null
      ? []
      : part(`Against ${reference}`, `${factor(result.times_reference)}, median over rounds`)),
  ];
}

/** Why a row has no interval. */
function without(row: Row): string {
  const { quantity, result } = row;
  if (bimodal(row)) return "one figure per mode";
  if (result.range_low === null) return "fewer than six process runs";
  const range = `${amount(result.range_low, quantity)} to ${amount(result.range_high, quantity)}`;
  return `figures drift during the run, from ${range}`;
}

function evidence(row: Row): string {
  const { result } = row;
  const seen = [
    result.kernel_switches === null ? "" : `${rate(result.kernel_switches)} kernel switches each`,
    result.same_cpu_hops === null ? "" : `${percent(result.same_cpu_hops)} stayed on one CPU`,
    result.turns_ok === null ? "" : result.turns_ok ? "turns and token agree" : "turns and token disagree",
    result.cpus.length > 0 ? `on CPU ${result.cpus.join(", ")}` : "",
  ].filter(Boolean);
  return `${result.verdict}${result.reason ? `: ${result.reason}` : ""}${seen.length > 0 ? ` (${seen.join("; ")})` : ""}`;
}

/** Events per unit, counted beside the time; why one was not counted stands in the notes. */
function counted(row: Row): HTMLElement[] {
  const written = ([name, of]: [string, PerUnit]): string[] => {
    const unit = name === "task-clock" ? " ns" : "";
    if ("of" in of) return [`${name} ${digits(of.of)}${unit}`];
    return "below" in of ? [`${name} below ${digits(of.below)}${unit}`] : [];
  };
  const events = Object.entries(row.result.counters ?? {}).flatMap(written);
  return events.length > 0 ? part(`Counted per ${row.result.unit}`, events.join(", ")) : [];
}

function starts(row: Row): string {
  const counted = row.starts.filter((start) => start.counted);
  const left = row.result.disturbed > 0 ? `, ${row.result.disturbed} left out as disturbed` : "";
  const medians = counted.slice(0, MOST_STARTS).map((start) => amount(start.median, row.quantity));
  const more = counted.length > MOST_STARTS ? " …" : "";
  return `${row.result.starts} process runs${left}${medians.length > 0 ? `: ${medians.join(", ")}${more}` : ""}`;
}

/** The panel of the row that is chosen; null: none is. */
export function panel(context: Context): HTMLElement | null {
  const row = context.run.rows.find((row) => row.label === context.state.open);
  if (!row) return null;
  const about = context.data.mechanisms[row.result.mechanism];
  const published = literatureOf(row, context.data);
  const notes = [...new Set([...row.result.notes, ...(about?.notes ?? [])])];
  const close = (): void => context.go({ open: "" });
  const compare = h(
    "button",
    {
      type: "button",
      id: "panel-compare",
      onclick: () => context.go({ against: row.label, open: "", view: "ladder" }),
    },
    "Compare with this row",
  );
  const build = row.result.build;
  return h(
    "aside",
    {
      id: "panel",
      "aria-labelledby": "panel-title",
      onkeydown: (event) => void ((event as KeyboardEvent).key === "Escape" && close()),
    },
    h(
      "div",
      { class: "bar" },
      h("h2", { id: "panel-title", tabindex: -1 }, row.label),
      h("button", { type: "button", id: "panel-close", "aria-label": "Close", onclick: close }, "×"),
    ),
    h("p", {}, about?.title ?? familyTitle(row.family, context.data)),
    row.figures.length > 0 && compare,
    h(
      "dl",
      {},
      ...figures(row, context.run.data.run.reference, experimentOf(row.experiment, context.data).batches),
      ...(about ? [...part("One unit", about.iteration), ...part("Includes", about.includes)] : []),
      ...part("Evidence", evidence(row)),
      ...part("Process runs", starts(row)),
      ...counted(row),
      ...(notes.length > 0 ? part("Notes", h("ul", { class: "said" }, ...notes.map((note) => h("li", {}, note)))) : []),
      ...(build
        ? part("Built as", [row.probe, build.runtime, build.compiler, build.flags].filter(Boolean).join(" · "))
        : part("Probe", row.probe)),
      ...(published.length > 0
        ? part(
            "Published",
            h(
              "ul",
              { class: "said" },
              ...published.map((value) => h("li", {}, `${author(value)}: ${quoted(value)}, ${value.machine}`)),
            ),
          )
        : []),
    ),
  );
}
