/** What the host put into the page (`crates/report/src/html/data.rs`), and rows made of it. */

type Maybe = number | null;

export interface Figures {
  median: Maybe;
  low: Maybe;
  high: Maybe;
  min: Maybe;
  mean: Maybe;
  p90: Maybe;
  p99: Maybe;
  mad: Maybe;
}

export interface Result {
  mechanism: string;
  probe: string;
  build: { version: string; runtime: string; compiler: string | null; flags: string | null; clock: string } | null;
  experiment: string;
  parameters: Record<string, string | number>;
  label: string;
  unit: string;
  verdict: string;
  reason: string;
  invocations: number;
  samples: number;
  ns_per_switch: Figures | null;
  bytes_per_context: Record<string, Maybe>;
  each: { pair_ns: Maybe; p50: Maybe; p999: Maybe; max: Maybe; count: number } | null;
  evidence: { kernel_switches_per_switch: Maybe; involuntary_share: Maybe; cpus: number[]; same_cpu_hops: Maybe; turns_ok: boolean | null };
  times_cheapest: Maybe;
  disturbed: number;
  peak_rss_bytes: number;
  notes: string[];
}

export interface Detail {
  family: string;
  control: boolean;
  expected: { turns: boolean; kernel_switches: [Maybe, Maybe] | null; same_cpu_hops: [Maybe, Maybe] | null; address_spaces: number | null } | null;
  starts: [round: number, sequence: number, at: Maybe, counted: number, spread: Maybe[]][];
  remarks: Record<string, string>;
  batches: Maybe[];
  histogram: [Maybe, number][];
  drift: Maybe;
  memory: { median: Maybe; low: Maybe; high: Maybe } | null;
}

/** What of a point is the parameter's own work, what the bare switch, and what is left, with its interval. */
export interface Parts {
  control: Maybe;
  control_result: string;
  direct: Maybe;
  indirect: Maybe;
  low: Maybe;
  high: Maybe;
  resolved: boolean;
}

/** A row on a curve, by its label. */
export interface Point {
  x: number;
  result: string;
  median: Maybe;
  low: Maybe;
  high: Maybe;
  parts: Parts | null;
}

/** Rows that differ from one another in one number only. */
export interface Curve {
  mechanism: string;
  experiment: string;
  label: string;
  axis: string;
  unit: string;
  control: string | null;
  points: Point[];
}

/** A row placed on a named pair of CPUs, the smaller number first. */
export interface Cell {
  a: number;
  b: number;
  result: string;
  relation: string | null;
  verdict: string;
  median: Maybe;
  low: Maybe;
  high: Maybe;
}

/** Rows that differ from one another in the pair of CPUs only. */
export interface Matrix {
  label: string;
  cpus: number[];
  cells: Cell[];
}

export interface Finding {
  id: string;
  severity: string;
  what: string;
  effect: string;
  cure: string;
}

export interface RunData {
  source: string;
  run: {
    id: string;
    started: string;
    ended: string | null;
    seed: number;
    ended_by: string;
    partial: boolean;
    tool_version: string;
    method_version: number;
    command: string[];
    noise_floor: Maybe;
    unstable: string | null;
    precision: Maybe;
    budget_s: Maybe;
  };
  machine: { key: string; stable: Record<string, string>; drifting: Record<string, string>; personal: Record<string, string>; findings: Finding[] };
  results: Result[];
  curves: Curve[];
  matrices: Matrix[];
  warnings: string[];
  details: Detail[];
}

export interface Side {
  run: string;
  label: string;
  median: Maybe;
  interval: [Maybe, Maybe] | null;
  unit: string;
  quantity: "time" | "memory";
}

export interface Comparison {
  a: Side;
  b: Side;
  ratio: Maybe;
  low: Maybe;
  high: Maybe;
  confidence: Maybe;
  paired: boolean;
  counts: [number, number];
  noise_floor: Maybe;
  smallest_detectable: Maybe;
  verdict: string | null;
  within: Maybe;
  phrase: string;
  reason: string;
}

export interface ComparisonTable {
  a: number;
  b: number;
  reference: string | null;
  threshold: number;
  comparisons: Comparison[];
  skipped: { label: string; reason: string }[];
  notes: string[];
  refused: string[];
}

export interface Literature {
  mechanism: string;
  name: string;
  what: string;
  low: number;
  high: number | null;
  unit: string;
  machine: string;
  year: number | null;
  source: string;
  read: boolean;
}

export interface PageData {
  format: number;
  tool: string;
  made_by: string;
  shares: number[];
  families: { id: string; title: string }[];
  mechanisms: Record<string, { title: string; iteration: string; includes: string }>;
  literature: Literature[];
  runs: RunData[];
  tables: ComparisonTable[];
  notes: string[];
}

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
  quantity: "time" | "bytes";
  /** ns per unit, or bytes per context; null: no figure that can be drawn. */
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
  /** In the fragment: the run's id, told apart where two files bring the same one. */
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
    return [{ round, sequence, at: number(at) ?? 0, counted: counted === 1, min, p10, median, p90, max, remark: detail.remarks[sequence] ?? "" }];
  });
}

function row(result: Result, detail: Detail, index: number): Row {
  const bytes = result.experiment === "footprint";
  const figures = bytes ? detail.memory : result.ns_per_switch;
  return {
    key: `r${index}`,
    index,
    result,
    detail,
    label: result.label,
    family: detail.family,
    experiment: result.experiment,
    placement: String(result.parameters["placement"] ?? ""),
    probe: result.probe,
    quantity: bytes ? "bytes" : "time",
    median: positive(figures?.median),
    low: positive(figures?.low),
    high: positive(figures?.high),
    min: positive(result.ns_per_switch?.min),
    p99: positive(result.ns_per_switch?.p99),
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
  return [facts["cpu.model_name"], facts["kernel.release"] && `kernel ${facts["kernel.release"]}`, facts["hypervisor"]].filter(Boolean).join(" · ") || "unknown machine";
}

/** A figure of others that has the unit of this row. */
export const literatureOf = (row: Row, data: PageData): Literature[] =>
  data.literature.filter((value) => value.mechanism === row.result.mechanism && value.unit === `ns per ${row.result.unit}` && value.low > 0);

/** Curves as far as their rows are shown. */
export const curves = (run: Run, rows: Row[]): Curve[] => {
  const shown = new Set(rows.map((row) => row.label));
  return run.data.curves.map((curve) => ({ ...curve, points: curve.points.filter((point) => shown.has(point.result)) })).filter((curve) => curve.points.length > 0);
};

/** Cells of matrices as far as their rows are shown. */
export const matrices = (run: Run, rows: Row[]): Matrix[] => {
  const shown = new Set(rows.map((row) => row.label));
  return run.data.matrices.map((matrix) => ({ ...matrix, cells: matrix.cells.filter((cell) => shown.has(cell.result)) })).filter((matrix) => matrix.cells.length > 0);
};
