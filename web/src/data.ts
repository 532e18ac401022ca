/** Rows made of what the host put into the page, whose types are generated (`web/generate`). Where a number is not finite, JSON has null. */

import type { Curve, Detail, Experiment, Literature, Matrix, Measure, PageData, Result, RunData } from "./page";

import { BYTES, either } from "./format";

export type {
  Cell,
  Comparison,
  ComparisonTable,
  Curve,
  Detail,
  Experiment,
  Explained,
  Literature,
  Matrix,
  Measure,
  PageData,
  Point,
  Result,
  RunData,
} from "./page";

/** One start of a probe. */
export interface Start {
  round: number;
  sequence: number;
  at: number;
  counted: boolean;
  min: number;
  p10: number;
  median: number;
  p90: number;
  max: number;
  remark: string;
}

/** A row of a run, with numbers that are numbers. */
export interface Row {
  key: string;
  index: number;
  result: Result;
  detail: Detail;
  label: string;
  family: string;
  experiment: string;
  placement: string;
  probe: string;
  quantity: Measure;
  /** ns or bytes per unit: the median, or the figure of each mode, the most frequent first; empty: no figure that can be drawn. */
  figures: number[];
  /** Of each figure the share of the samples that it stands for. */
  shares: number[];
  /** The one figure of the row; null: it has none, or modes. */
  median: number | null;
  low: number | null;
  high: number | null;
  min: number | null;
  p99: number | null;
  starts: Start[];
}

/** A run with its rows. */
export interface Run {
  index: number;
  /** In the fragment: the run's id, distinguished where two files bring the same one. */
  key: string;
  data: RunData;
  rows: Row[];
  /** As a chooser names it; of those that would have one name, each has its key too. */
  title: string;
}

/** A quantity by its name; of a page whose host knows it, there is always one. */
const quantityOf = (name: string, data: PageData): Measure =>
  data.quantities.find((known) => known.name === name) ?? data.quantities[0]!;

/** An experiment by its name. */
export const experimentOf = (name: string, data: PageData): Experiment =>
  data.experiments.find((known) => known.name === name) ?? data.experiments[0]!;

/** What an experiment's figures are of. */
export const measured = (experiment: string, data: PageData): Measure =>
  quantityOf(experimentOf(experiment, data).quantity, data);

/** It measures what contexts keep. */
export const isMemory = ({ quantity }: Experiment): boolean => quantity === BYTES.name;

/** A switch on one CPU: the usual experiment in the usual place, of the usual unit. */
export const isSwitch = (row: Row, data: PageData): boolean =>
  row.experiment === data.experiments[0]!.name &&
  row.placement === data.placements[0]!.name &&
  row.result.unit === data.experiments[0]!.unit;

/** Apart by what the rows of each measure. */
export const byQuantity = <T>(all: T[], row: (one: T) => Row, data: PageData): [Measure, T[]][] =>
  data.quantities
    .map((quantity): [Measure, T[]] => [quantity, all.filter((one) => row(one).quantity === quantity)])
    .filter(([, of]) => of.length > 0);

/** Adds to one of many lists. */
export function group<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

const number = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** What a logarithmic axis can show. */
export const positive = (value: unknown): number | null => {
  const found = number(value);
  return found !== null && found > 0 ? found : null;
};

function starts(detail: Detail): Start[] {
  return detail.starts.flatMap(([round, sequence, at, counted, spread]) => {
    const [min, p10, median, p90, max] = spread.map(number);
    if (min == null || p10 == null || median == null || p90 == null || max == null) return [];
    return [
      {
        round,
        sequence,
        at: number(at) ?? 0,
        counted: counted === 1,
        min,
        p10,
        median,
        p90,
        max,
        remark: detail.remarks[sequence] ?? "",
      },
    ];
  });
}

/** It has modes, so that no single number stands for it. */
export const bimodal = (row: Row | undefined): boolean => row !== undefined && row.result.modes.length > 0;

/** What a row costs, with the share of each of its modes: `28.0 (52 %) or 1.31 µs (48 %)`. */
export const cost = (row: Row | undefined): string => (row ? either(row.figures, row.quantity, row.shares) : "–");

/** The same where there is no room for shares: `28.0 or 1.31 µs`. */
export const brief = (row: Row): string => either(row.figures, row.quantity);

/** A mark for each figure of these rows, with a radius whose area is its share. */
export const eachFigure = <T extends Row>(
  rows: T[],
): { row: T; key: string; family: string; value: number; radius: number }[] =>
  rows.flatMap((row) =>
    row.figures.map((value, i) => {
      const radius = Math.max(1.5, 4.5 * Math.sqrt(row.shares[i] ?? 1));
      return { row, key: row.key, family: row.family, value, radius };
    }),
  );

function row(result: Result, detail: Detail, index: number, data: PageData): Row {
  const modes = [...result.modes].sort(([, a], [, b]) => b - a);
  const found = (modes.length > 0 ? modes : [[result.median, 1] as const]).flatMap(([value, share]) => {
    const figure = positive(value);
    return figure === null ? [] : [{ figure, share }];
  });
  const figures = found.map(({ figure }) => figure);
  return {
    key: `r${index}`,
    index,
    result,
    detail,
    label: result.label,
    family: detail.family,
    experiment: result.experiment,
    placement: result.placement,
    probe: result.probe,
    quantity: quantityOf(result.quantity, data),
    figures,
    shares: modes.length > 0 ? found.map(({ share }) => share) : [],
    median: modes.length > 0 ? null : (figures[0] ?? null),
    low: positive(result.low),
    high: positive(result.high),
    min: positive(result.min),
    p99: positive(result.p99),
    starts: starts(detail),
  };
}

/** Controls last: nobody came for them. The others as the host gives them, by family and cost, with each bimodal row where its most frequent mode belongs. */
function inOrder(rows: Row[], { curves }: RunData): Row[] {
  const onCurve = new Set(curves.flatMap(({ points }) => points.map(({ result }) => result)));
  const moved = rows.filter(
    (row) => row.figures[0] !== Math.min(...row.figures) && bimodal(row) && !onCurve.has(row.label),
  );
  const sorted = rows.filter((row) => !moved.includes(row));
  for (const row of moved) {
    const cheaper = (other: Row): boolean =>
      other.family === row.family && (other.figures[0] ?? Infinity) <= row.figures[0]!;
    const before = sorted.findLastIndex(cheaper);
    const place = before < 0 ? sorted.findIndex((other) => other.family === row.family) : before + 1;
    sorted.splice(place < 0 ? sorted.length : place, 0, row);
  }
  const control = ({ detail }: Row): number => Number(detail.control);
  return sorted.sort((a, b) => control(a) - control(b));
}

/** Runs with their rows. */
export function runs(data: PageData): Run[] {
  const seen = new Map<string, number>();
  const found = data.runs.map((one, index) => {
    const before = seen.get(one.run.id) ?? 0;
    seen.set(one.run.id, before + 1);
    const rows = one.results.flatMap((result, i) => {
      const detail = one.details[i];
      return detail ? [row(result, detail, i, data)] : [];
    });
    const key = before === 0 ? one.run.id : `${one.run.id}~${before + 1}`;
    return { index, key, data: one, rows: inOrder(rows, one), title: "" };
  });
  const titles = found.map((run) => named(run).slice(1).join(" · "));
  const often = new Set(titles.filter((title, i) => titles.indexOf(title) !== i));
  return found.map((run, i) => ({ ...run, title: titles[i]! + (often.has(titles[i]!) ? ` · ${run.key}` : "") }));
}

/** A short name of the machine of a run. */
export function machine(run: RunData): string {
  const facts = run.machine.stable;
  return (
    [facts["cpu.model_name"], facts["kernel.release"] && `kernel ${facts["kernel.release"]}`, facts["hypervisor"]]
      .filter(Boolean)
      .join(" · ") || "unknown machine"
  );
}

/** The machine as a chooser names it: processor and release of the kernel. */
export function machineName(run: Run): string {
  const facts = run.data.machine.stable;
  const processor = (facts["cpu.model_name"] ?? facts["cpu.model"] ?? "unknown machine")
    .replace(/\((?:R|TM|r|tm)\)|\bCPU\b|\bProcessor\b|@.*$/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return [processor, facts["kernel.release"]].filter(Boolean).join(", ");
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** When a run began, UTC: `22 Nov, 19:45`. */
export function moment(run: Run): string {
  const [, month, day, time] = /^\d+-(\d\d)-(\d\d)T(\d\d:\d\d)/.exec(run.data.run.started) ?? [];
  return month ? `${Number(day)} ${MONTHS[Number(month) - 1] ?? month}, ${time}` : run.data.run.started;
}

/** What was asked: `run`, `sweep contexts`, … */
const asked = (run: Run): string => {
  const command = run.data.run.command[1] ?? "run";
  return command === "sweep" && run.data.axis !== null ? `sweep ${run.data.axis}` : command;
};

/** What a run is named by, from the first to the last resort. */
const named = (run: Run): string[] => [run.data.source, machineName(run), moment(run), asked(run)];

/** What tells each of two runs from the other: only that in which they differ. */
export function apart(a: Run, b: Run): [string, string] {
  const [x, y] = [named(a), named(b)];
  const differ = x.flatMap((part, i) => (part === y[i] ? [] : [i]));
  if (differ.length === 0) return [a.key, b.key];
  const told = (parts: string[]): string => differ.map((i) => parts[i]).join(" · ");
  return [told(x), told(y)];
}

/** Sizes of the caches that data is in: L1, L2, L3. */
export function caches(run: Run): { name: string; bytes: number }[] {
  return [1, 2, 3, 4].flatMap((level) => {
    const facts = run.data.machine.stable;
    const fact = facts[`cache.l${level}d`] ?? facts[`cache.l${level}`] ?? "";
    const [, size, unit] = /^(\d+)([KMG])/.exec(fact) ?? [];
    const scale = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[unit as "K" | "M" | "G"];
    return size && scale ? [{ name: `L${level}`, bytes: Number(size) * scale }] : [];
  });
}

/** Equal for the same hardware. */
export const hardware = (run: Run): string => run.data.machine.hardware_key;

/** Rows with a figure that several of these runs have, by their label. */
export function inCommon(runs: Run[]): Map<string, { run: Run; row: Row }[]> {
  const found = new Map<string, { run: Run; row: Row }[]>();
  for (const run of runs) for (const row of run.rows) if (row.figures.length > 0) group(found, row.label, { run, row });
  return new Map([...found].filter(([, all]) => new Set(all.map(({ run }) => run)).size > 1));
}

/** Somebody measured for one of the rows that these runs have in common. */
export const comparable = (runs: Run[]): boolean =>
  [...inCommon(runs).values()].some(([first]) => !first!.row.detail.control);

/** The runs of the hardware of one of them. */
export const ofOneMachine = (run: Run, runs: Run[]): Run[] => runs.filter((other) => hardware(other) === hardware(run));

/** A row of its mechanism's own set-up: no other contexts, parameters or timing than the mechanism has by itself. */
const plain = (row: Row): boolean => row.label === row.result.mechanism;

/** Figures of others that are of this row: of its unit and set-up. Those of another placement, which their names say, stand in the row that has it, and figures of ours nowhere. */
export function literatureOf(row: Row, data: PageData): Literature[] {
  if (!plain(row) && row.label !== `${row.result.mechanism} ${row.placement}`) return [];
  const { placements } = data;
  const placed = (value: Literature): string =>
    (placements.find(({ name }) => `-${value.name}-`.includes(`-${name}-`)) ?? placements[0]!).name;
  return data.literature.filter(
    (value) =>
      value.mechanism === row.result.mechanism &&
      value.unit === `${row.quantity.unit} per ${row.result.unit}` &&
      value.low > 0 &&
      !value.name.startsWith("reference-") &&
      placed(value) === row.placement,
  );
}

/** Curves as far as their rows are shown. */
export const curves = (run: Run, rows: Row[]): Curve[] => {
  const shown = new Set(rows.map((row) => row.label));
  return run.data.curves
    .map((curve) => ({ ...curve, points: curve.points.filter((point) => shown.has(point.result)) }))
    .filter((curve) => curve.points.length > 0);
};

/** Cells of matrices as far as their rows are shown. */
export const matrices = (run: Run, rows: Row[]): Matrix[] => {
  const shown = new Set(rows.map((row) => row.label));
  return run.data.matrices
    .map((matrix) => ({ ...matrix, cells: matrix.cells.filter((cell) => shown.has(cell.result)) }))
    .filter((matrix) => matrix.cells.length > 0);
};
