import { expect, test } from "vitest";
import { type Curve, curves, type Detail, matrices, type PageData, type Result, runs } from "../../src/data";

const figures = (median: number | null) => ({ median, low: median, high: median, min: median, mean: median, p90: median, p99: median, mad: 0 });

function result(mechanism: string, median: number | null, parameters: Record<string, string | number>): Result {
  return {
    mechanism, probe: "p", build: null, experiment: "switch", parameters: { contexts: 2, placement: "one_cpu", timing: "batch", ...parameters },
    label: [mechanism, ...Object.entries(parameters).map(([name, value]) => `${name}=${value}`)].join(" "), unit: "switch", verdict: "verified", reason: "", invocations: 6, samples: 60,
    ns_per_switch: figures(median), bytes_per_context: {}, each: null,
    evidence: { kernel_switches_per_switch: 1, involuntary_share: 0, cpus: [1], same_cpu_hops: 1, turns_ok: true },
    times_cheapest: 1, disturbed: 0, peak_rss_bytes: 0, notes: [],
  };
}

const detail = (): Detail => ({ family: "x", control: false, expected: null, starts: [], remarks: {}, batches: [], histogram: [], drift: null, memory: null });

function page(...results: [Result, Detail][]): PageData {
  const run = { id: "r", started: "", ended: null, seed: 0, ended_by: "rounds", partial: false, tool_version: "", method_version: 1, command: [], noise_floor: null, unstable: null, precision: null, budget_s: null };
  const machine = { key: "", stable: {}, drifting: {}, personal: {}, findings: [] };
  const one = { source: "s", run, machine, results: results.map(([result]) => result), details: results.map(([, detail]) => detail), curves: [], matrices: [], warnings: [] };
  return { format: 1, tool: "", made_by: "", shares: [], families: [], mechanisms: {}, literature: [], runs: [one, structuredClone(one)], tables: [], notes: [] };
}

test("two runs of one id are told apart", () => {
  expect(runs(page()).map((run) => run.key)).toEqual(["r", "r~2"]);
});

test("what a logarithmic axis cannot show is no figure", () => {
  const rows = runs(page(...[null, 0, -5, NaN, Infinity, 3].map((median): [Result, Detail] => [result("x/a", median, {}), detail()])))[0]!.rows;
  expect(rows.map((row) => row.median)).toEqual([null, null, null, null, null, 3]);
});

test("the memory of a row is the figure of the host, with its interval", () => {
  const kept = { ...result("x/a", null, {}), experiment: "footprint", ns_per_switch: null, bytes_per_context: { resident_bytes: 1, kernel_bytes: 2, virtual_bytes: 4096 } };
  const [row] = runs(page([kept, { ...detail(), memory: { median: 5, low: 4, high: null } }], [kept, detail()]))[0]!.rows;
  expect([row!.quantity, row!.median, row!.low, row!.high]).toEqual(["bytes", 5, 4, null]);
});

test("curves and maps are the host's, as far as their rows are shown", () => {
  const run = runs(page(...[2, 8, 64].map((contexts): [Result, Detail] => [result("x/a", contexts, { contexts }), detail()])))[0]!;
  const point = (x: number) => ({ x, result: `x/a contexts=${x}`, median: x, low: null, high: null, parts: null });
  const curve: Curve = { mechanism: "x/a", experiment: "switch", label: "x/a", axis: "contexts", unit: "switch", control: null, points: [2, 8, 64].map(point) };
  const cell = (b: number, result: string) => ({ a: 0, b, result, relation: null, verdict: "verified", median: b, low: null, high: null });
  run.data.curves = [curve, { ...curve, points: [point(1)] }];
  run.data.matrices = [{ label: "x/a", cpus: [0, 1, 2], cells: [cell(1, "x/a contexts=2"), cell(2, "x/b")] }];
  expect(curves(run, run.rows)).toEqual([curve]);
  expect(curves(run, run.rows.slice(1)).map(({ points }) => points.map(({ x }) => x))).toEqual([[8, 64]]);
  expect(matrices(run, run.rows).map(({ cells }) => cells.map(({ b }) => b))).toEqual([[1]]);
  expect(matrices(run, run.rows.slice(1))).toEqual([]);
});
