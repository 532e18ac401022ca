import { expect, test } from "@playwright/test";
import { type Curve, curves, type Detail, matrices, type PageData, type Result, runs } from "../../src/data";
import { BYTES, TIME } from "../../src/format";

const measure = {
  greater: "more",
  smaller: "less",
  of_a_unit: "Cost",
  base_unit: "",
  per_base: 1,
  more_is_better: false,
  exact: false,
};

function result(mechanism: string, median: number | null, contexts = 2, quantity = "time"): Result {
  const figures = {
    median,
    low: median,
    high: median,
    min: median,
    mean: median,
    p50: median,
    p90: median,
    p99: median,
    p999: median,
    max: median,
    mad: 0,
    mean_over_time: null,
  };
  const split = {
    control: null,
    direct: null,
    indirect: null,
    indirect_low: null,
    indirect_high: null,
    reading: null,
    relation: null,
  };
  return {
    run: "r",
    mechanism,
    probe: "p",
    build: null,
    experiment: "switch",
    contexts,
    placement: "one_cpu",
    timing: "batch",
    parameters: {},
    label: `${mechanism} contexts=${contexts}`,
    quantity,
    unit: "switch",
    verdict: "verified",
    conditions: [],
    reason: "",
    reason_code: "",
    starts: 6,
    samples: 60,
    ...figures,
    range_low: null,
    range_high: null,
    another_run_low: null,
    another_run_high: null,
    as_measured: null,
    as_measured_low: null,
    as_measured_high: null,
    follows_clock: null,
    slowed: null,
    rulers: {},
    modes: [],
    modes_of: null,
    ...split,
    parts: {},
    percentiles: {},
    kernel_switches: 1,
    involuntary_share: 0,
    cpus: [1],
    same_cpu_hops: 1,
    turns_ok: true,
    times_reference: 1,
    times_reference_low: null,
    times_reference_high: null,
    disturbed: 0,
    disturbed_counted: 0,
    warmup_batches: 0,
    peak_rss_bytes: 0,
    start_medians: [],
    seen_by: null,
    notes: [],
  };
}

const detail = (): Detail => ({
  family: "x",
  control: false,
  expected: null,
  starts: [],
  remarks: {},
  batches: [],
  histogram: [],
  drift: null,
  cells: [],
  caveats: [],
  limits: [],
});

function page(...results: [Result, Detail][]): PageData {
  const run = {
    id: "r",
    started: "",
    ended: null,
    seed: 0,
    ended_by: "rounds",
    partial: false,
    tool_version: "",
    method_version: 1,
    command: [],
    noise_floor: null,
    noise_floors: {},
    reference: null,
    representatives: [],
    speeds: {},
    clock_ghz: null,
    clock_ghz_declared: null,
    clock_ghz_stored: null,
    unstable: null,
    precision: 0,
    budget_s: 0,
  };
  const machine = { key: "", hardware_key: "", software_key: "", stable: {}, drifting: {}, personal: {}, findings: [] };
  const one = {
    format: 2,
    axis: null,
    explained: [],
    cautions: [],
    source: "s",
    run,
    machine,
    results: results.map(([result]) => result),
    details: results.map(([, detail]) => detail),
    curves: [],
    matrices: [],
    warnings: [],
  };
  return {
    format: 2,
    tool: "",
    made_by: "",
    columns: [],
    experiments: [],
    placements: [],
    quantities: [TIME, BYTES].map((quantity) => ({ ...measure, ...quantity })),
    shares: [],
    families: [],
    mechanisms: {},
    literature: [],
    runs: [one, structuredClone(one)],
    tables: [],
    audits: [],
    notes: [],
  };
}

test("two runs of one id are distinguished", () => {
  expect(runs(page()).map((run) => run.key)).toEqual(["r", "r~2"]);
});

test("what a logarithmic axis cannot show is not a figure", () => {
  const rows = runs(
    page(...[null, 0, -5, NaN, Infinity, 3].map((median): [Result, Detail] => [result("x/a", median), detail()])),
  )[0]!.rows;
  expect(rows.map((row) => row.median)).toEqual([null, null, null, null, null, 3]);
});

test("memory is a figure like time", () => {
  const [row] = runs(page([{ ...result("x/a", 5, 2, "memory"), low: 4, high: null }, detail()]))[0]!.rows;
  expect([row!.quantity.name, row!.median, row!.low, row!.high]).toEqual(["memory", 5, 4, null]);
});

test("curves and maps are the host's, as far as their rows are shown", () => {
  const run = runs(
    page(...[2, 8, 64].map((contexts): [Result, Detail] => [result("x/a", contexts, contexts), detail()])),
  )[0]!;
  const point = (x: number) => ({ x, result: `x/a contexts=${x}`, median: x, low: null, high: null, parts: null });
  const curve: Curve = {
    mechanism: "x/a",
    probe: "p",
    placement: "one_cpu",
    gaps: [],
    experiment: "switch",
    label: "x/a",
    axis: "contexts",
    unit: "switch",
    control: null,
    points: [2, 8, 64].map(point),
  };
  const cell = (b: number, result: string) => ({
    a: 0,
    b,
    result,
    relation: null,
    verdict: "verified",
    median: b,
    low: null,
    high: null,
  });
  run.data.curves = [curve, { ...curve, points: [point(1)] }];
  run.data.matrices = [
    {
      mechanism: "x/a",
      probe: "p",
      experiment: "switch",
      label: "x/a",
      cpus: [0, 1, 2],
      cells: [cell(1, "x/a contexts=2"), cell(2, "x/b")],
    },
  ];
  expect(curves(run, run.rows)).toEqual([curve]);
  expect(curves(run, run.rows.slice(1)).map(({ points }) => points.map(({ x }) => x))).toEqual([[8, 64]]);
  expect(matrices(run, run.rows).map(({ cells }) => cells.map(({ b }) => b))).toEqual([[1]]);
  expect(matrices(run, run.rows.slice(1))).toEqual([]);
});
