import { type Context, typed } from "../context";
import { byQuantity, hardware, inCommon, machineName, type Run } from "../data";
import { h } from "../dom";
import { nothing } from "../figure";
import { type Line, strewn } from "./strewn";

const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye"] as const;
const COLOURS = 8;

/** Machines distinguished by symbol and colour. */
const MOST_MACHINES = 24;

/** What a legend says of each machine, by its hardware. */
function machines(runs: Run[]): Map<string, { name: string; runs: Run[] }> {
  const found = new Map<string, { name: string; runs: Run[] }>();
  for (const run of runs) {
    const known = found.get(hardware(run));
    if (known) known.runs.push(run);
    else found.set(hardware(run), { name: machineName(run), runs: [run] });
  }
  return found;
}

/** Rows that several machines have. */
export const acrossMachines = (runs: Run[]): ReturnType<typeof inCommon> =>
  new Map([...inCommon(runs)].filter(([, all]) => new Set(all.map(({ run }) => hardware(run))).size > 1));

/** `3 machines`; where a processor is there under several kernels, both words. */
export function machinesOf(runs: Run[]): string {
  const all = [...machines(runs).values()];
  const processors = new Set(all.map(({ name }) => name.replace(/, [^,]*$/, "")));
  if (all.length === 1) return "one machine";
  return `${all.length} machines${processors.size < all.length ? " or kernels" : ""}`;
}

/** The same mechanism on several machines. */
export function compareMachines(context: Context): HTMLElement[] {
  const across = acrossMachines(context.runs);
  const wanted = new Set(context.rows.map((row) => row.label));
  const common = [...across].filter(([label]) => wanted.has(label));
  if (common.length === 0)
    return [
      nothing(
        across.size > 0
          ? "No row of this run, as filtered, was measured on a second machine."
          : "No row here was measured on two machines. Exported runs name no host; a page of several compares them:",
        "switchcost export -o mine.jsonl",
        "switchcost report mine.jsonl theirs.jsonl",
      ),
    ];
  // A machine without a mark has no place in the legend.
  const drawn = new Set(common.flatMap(([, all]) => all.map(({ run }) => run)));
  const seen = [...machines([...drawn])].slice(0, MOST_MACHINES);
  const others = machines(context.runs.filter((run) => !seen.some(([key]) => key === hardware(run))));
  const place = new Map(seen.map(([key], nth) => [key, nth]));
  const lines = common.map(([label, all]): Line => {
    const rows = all.flatMap(({ run, row }) => {
      const kind = place.get(hardware(run));
      return kind === undefined ? [] : [{ row, kind }];
    });
    return { label, rows };
  });
  const kinds = seen.map(([, { name, runs }], nth) => ({
    title: `${String.fromCharCode(65 + nth)}: ${name} (${runs.length} ${runs.length === 1 ? "run" : "runs"})`,
    symbol: SYMBOLS[nth % SYMBOLS.length] ?? "circle",
    stroke: `var(--f${(nth + 1) % COLOURS})`,
    fill: "none",
  }));
  const left = [...others].map(([key, { name }]) => {
    const why = [...drawn].some((run) => hardware(run) === key)
      ? `beyond the first ${MOST_MACHINES}`
      : "no row in common";
    return `${name} (${why})`;
  });
  return byQuantity(lines, ({ rows }) => rows[0]!.row, context.data).map(([quantity, lines]) =>
    strewn(context, lines, kinds, quantity, {
      id: `machines-${quantity.name}`,
      title: `The same rows on ${machinesOf([...drawn])}`,
      caption:
        "One mark for each run: its median, or each mode of a bimodal row. Machines differ in more than their hardware: see Machine for their facts.",
      command: [...new Set([...drawn].map(typed))].slice(0, 4).join("; "),
      n: `${lines.reduce((sum, { rows }) => sum + rows.length, 0)} rows of ${drawn.size} runs`,
      below: left.length > 0 && h("p", { class: "fine" }, `Not drawn: ${left.slice(0, 40).join("; ")}.`),
    }),
  );
}
