/** Rows made of what the host put into the page, whose types are generated (`web/generate`). Where a number is not finite, JSON has null. */

import type { Curve, Detail, Literature, Matrix, PageData, Quantity, Result, RunData } from "./page";

export type {
  Cell,
  Comparison,
  ComparisonTable,
  Curve,
  Detail,
  Literature,
  Matrix,
  PageData,
  Point,
  Quantity,
  Result,
  RunData,
  Side,
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
  quantity: Quantity;
  /** ns or bytes per unit; null: no figure that can be drawn. */
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
}

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

/** Where a row with modes, which has no median, stands in an order of rows: at the mode that most of its starts have. */
function heaviest(result: Result): number | null {
  const [mode] = [...result.modes].sort(([, a], [, b]) => b - a);
  return mode?.[0] ?? null;
}

function row(result: Result, detail: Detail, index: number): Row {
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
    quantity: result.quantity as Quantity,
    median: positive(result.median ?? heaviest(result)),
    low: positive(result.low),
    high: positive(result.high),
    min: positive(result.min),
    p99: positive(result.p99),
    starts: starts(detail),
  };
}

/** Runs with their rows. */
export function runs(data: PageData): Run[] {
  const seen = new Map<string, number>();
  return data.runs.map((one, index) => {
    const before = seen.get(one.run.id) ?? 0;
    seen.set(one.run.id, before + 1);
    const rows = one.results.flatMap((result, i) => {
      const detail = one.details[i];
      return detail ? [row(result, detail, i)] : [];
    });
    return { index, key: before === 0 ? one.run.id : `${one.run.id}~${before + 1}`, data: one, rows };
  });
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

/** A figure of others that has the unit of this row. */
export const literatureOf = (row: Row, data: PageData): Literature[] =>
  data.literature.filter(
    (value) => value.mechanism === row.result.mechanism && value.unit === `ns per ${row.result.unit}` && value.low > 0,
  );

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
