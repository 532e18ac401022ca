/** The views of the page: which have something to show, which one is shown first, and what would fill the others. */

import type { Context } from "./context";
import { comparable, experimentOf, inCommon, isMemory, ofOneMachine, type PageData, type Row, type Run } from "./data";
import { audit } from "./views/audit";
import { commands } from "./views/common";
import { compare, tablesOf } from "./views/compare";
import { curves } from "./views/curves";
import { distribution } from "./views/distribution";
import { evidence } from "./views/evidence";
import { explain } from "./views/explain";
import { history } from "./views/history";
import { ladder } from "./views/ladder";
import { life } from "./views/life";
import { machine } from "./views/machine";
import { acrossMachines, compareMachines } from "./views/machines";
import { memory, priced } from "./views/memory";
import { pairs } from "./views/pairs";
import { COMMAND, eachUnit, onlyEachUnit, percentiles } from "./views/percentiles";
import { placed, placement, placementsOf } from "./views/placement";
import { rounds } from "./views/rounds";

export interface View {
  title: string;
  draw: (context: Context) => HTMLElement[];
  /** There is something to draw. */
  has: (run: Run, runs: Run[], data: PageData) => boolean;
  /** Else: what it would show, and the command that measures it. */
  more?: { shows: string; command: string | ((data: PageData) => string) };
}

const always = (): boolean => true;
const some = (runs: Run[], fits: (row: Row) => boolean): boolean => runs.some((run) => run.rows.some(fits));
const startsKnown = (run: Run): boolean => run.rows.some((row) => row.starts.length > 0);

export const VIEWS: Record<string, View> = {
  // Of rows that have percentiles it would say less than those.
  ladder: { title: "Ladder", draw: ladder, has: (run) => !onlyEachUnit(run) },
  percentiles: {
    title: "Percentiles",
    draw: percentiles,
    has: (run) => eachUnit(run).length > 0,
    more: { shows: "p50 to p99.9 of single switches, with their histograms", command: COMMAND },
  },
  curves: {
    title: "Curves",
    draw: curves,
    has: (run) => run.data.curves.length > 0,
    more: { shows: "cost against contexts or working set", command: "switchcost sweep contexts PATTERN" },
  },
  pairs: {
    title: "CPU pairs",
    draw: pairs,
    has: (run) => run.data.matrices.length > 0,
    more: { shows: "what a switch between each pair of CPUs costs", command: "switchcost sweep cpus PATTERN" },
  },
  placement: {
    title: "Placement",
    draw: placement,
    has: (run, _, data) => placed(run.rows, data).length > 0,
    more: {
      shows: "one CPU, two CPUs, or the scheduler's choice",
      command: (data) => placementsOf("thread", data),
    },
  },
  memory: {
    title: "Memory & switch",
    draw: memory,
    has: (run, runs, data) => priced(run, runs, data).length > 1,
    more: {
      shows: "10,000 connections: memory of a context against its switch",
      command: (data) => [...commands(data, isMemory), "switchcost report latest~1 latest"].join("; "),
    },
  },
  life: {
    title: "Creation & memory",
    draw: life,
    has: (_, runs, data) =>
      some(
        runs,
        (row) => experimentOf(row.experiment, data).of_contexts && row.figures.length > 0 && !row.detail.control,
      ),
    more: {
      shows: "what a context costs to create and to keep",
      command: (data) => commands(data, (experiment) => experiment.of_contexts).join("; "),
    },
  },
  compare: {
    title: "Compare",
    draw: compare,
    has: (run, _, data) => tablesOf(run, data).length > 0,
    more: { shows: "ratios with intervals and verdicts", command: "switchcost report latest~1 latest" },
  },
  machines: {
    title: "Machines",
    draw: compareMachines,
    has: (_, runs) => acrossMachines(runs).size > 0,
    more: {
      shows: "the same mechanisms on several machines",
      command: "switchcost export -o mine.jsonl; switchcost report mine.jsonl theirs.jsonl",
    },
  },
  history: {
    title: "History",
    draw: history,
    has: (run, runs) => inCommon(ofOneMachine(run, runs)).size > 0,
    more: { shows: "several runs of one machine over time", command: "switchcost report latest~2 latest~1 latest" },
  },
  explain: {
    title: "Explain",
    draw: explain,
    has: (run) => run.data.explained.length > 0,
    more: {
      shows: "the layers that a cost is made of",
      command: "switchcost explain thread/futex; switchcost report latest",
    },
  },
  audit: {
    title: "Audit",
    draw: audit,
    has: (_run, _runs, data) => data.audits.length > 0,
    more: {
      shows: "what switches cost a running program",
      command: "switchcost audit --pid PID --format json >audit.json; switchcost report latest audit.json",
    },
  },
  distribution: { title: "Distribution", draw: distribution, has: startsKnown },
  rounds: { title: "Over time", draw: rounds, has: startsKnown },
  evidence: { title: "Evidence", draw: evidence, has: always },
  machine: { title: "Machine", draw: machine, has: always },
};

/** The view that answers what these runs were made for. */
export function startView(run: Run, runs: Run[], data: PageData): string {
  const has = (name: string): boolean => VIEWS[name]!.has(run, runs, data);
  if (has("audit")) return "audit";
  if (runs.length > 1) {
    if ([...acrossMachines(runs).values()].some(([first]) => !first!.row.detail.control)) return "machines";
    if (comparable(ofOneMachine(run, runs))) return runs.length === 2 ? "compare" : "history";
    return ["memory", "life", "ladder"].find(has) ?? "percentiles";
  }
  if (has("explain") && run.data.run.command[1] === "explain") return "explain";
  const points = run.data.curves.reduce((sum, curve) => sum + curve.points.length, 0);
  if (has("pairs") && run.data.axis !== null && has("curves") === false) return "pairs";
  if (has("curves") && (run.data.axis !== null || 2 * points > run.rows.length)) return "curves";
  return has("ladder") ? "ladder" : "percentiles";
}
