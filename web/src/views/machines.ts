import { type Context, typed } from "../context";
import { byQuantity, group, hardware, machineName, type Run } from "../data";
import { nothing } from "../figure";
import { type Line, strewn } from "./strewn";

const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye"] as const;
const COLOURS = 8;

/** Machines distinguished by symbol and colour. */
const MOST_MACHINES = 24;

interface Seen {
  title: string;
  runs: Run[];
}

function machines(runs: Run[]): Map<string, Seen> {
  const found = new Map<string, Seen>();
  for (const run of runs) {
    const key = hardware(run);
    const known = found.get(key);
    if (known) known.runs.push(run);
    else
      found.set(key, {
        title: `${String.fromCharCode(65 + (found.size % 26))}${found.size >= 26 ? Math.floor(found.size / 26) : ""}: ${machineName(run)}`,
        runs: [run],
      });
  }
  return found;
}

/** The same mechanism on many machines, or in many runs of one. */
export function compareMachines(context: Context): HTMLElement[] {
  if (context.runs.length < 2)
    return [
      nothing(
        "One run only. Others give files that name nobody, and a page of several compares them:",
        "switchcost export -o mine.jsonl",
        "switchcost report mine.jsonl theirs.jsonl",
      ),
    ];
  const all = [...machines(context.runs).values()];
  const seen = all.slice(0, MOST_MACHINES);
  const wanted = new Set(context.rows.map((row) => row.label));
  const found = new Map<string, Line["rows"]>();
  for (const [kind, { runs }] of seen.entries())
    for (const row of runs.flatMap((run) => run.rows))
      if (wanted.has(row.label) && row.figures.length > 0) group(found, row.label, { row, kind });
  const common = [...found].flatMap(([label, rows]) => (rows.length > 1 ? [{ label, rows }] : []));
  if (common.length === 0) return [nothing("These runs have no row in common.")];
  const kinds = seen.map(({ title, runs }, nth) => ({
    title: `${title} (${runs.length} ${runs.length === 1 ? "run" : "runs"})`,
    symbol: SYMBOLS[nth % SYMBOLS.length] ?? "circle",
    stroke: `var(--f${(nth + 1) % COLOURS})`,
    fill: "none",
  }));
  return byQuantity(common, ({ rows }) => rows[0]!.row, context.data).map(([quantity, lines]) =>
    strewn(context, lines, kinds, quantity, {
      id: `machines-${quantity.name}`,
      title: all.length > 1 ? `${all.length} machines` : `${context.runs.length} runs of one machine`,
      caption: `One mark for each run: its median, or each mode of a bimodal row. Machines differ in more than their hardware: see their facts under Machine.${all.length > MOST_MACHINES ? ` The first ${MOST_MACHINES} of ${all.length} machines.` : ""}`,
      command: [...new Set(context.runs.map(typed))].slice(0, 4).join("; "),
      n: `${lines.reduce((sum, { rows }) => sum + rows.length, 0)} rows of ${context.runs.length} runs`,
    }),
  );
}
