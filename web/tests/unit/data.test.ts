import { expect, test } from "vitest";
import { curves, type Detail, indirect, pairs, type PageData, type Result, runs } from "../../src/data";

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

const detail = (control = false): Detail => ({ family: "x", control, expected: null, starts: [], remarks: {}, batches: [], histogram: [] });

function page(...results: [Result, Detail][]): PageData {
  const run = { id: "r", started: "", ended: null, seed: 0, ended_by: "rounds", partial: false, tool_version: "", method_version: 1, command: [], noise_floor: null, unstable: null, precision: null, budget_s: null };
  const machine = { stable: {}, drifting: {}, personal: {}, findings: [] };
  const one = { source: "s", run, machine, results: results.map(([result]) => result), details: results.map(([, detail]) => detail), warnings: [] };
  return { format: 1, tool: "", made_by: "", shares: [], families: [], mechanisms: {}, literature: [], runs: [one, structuredClone(one)], tables: [], notes: [] };
}

test("two runs of one id are told apart", () => {
  expect(runs(page()).map((run) => run.key)).toEqual(["r", "r~2"]);
});

test("what a logarithmic axis cannot show is no figure", () => {
  const rows = runs(page(...[null, 0, -5, NaN, Infinity, 3].map((median): [Result, Detail] => [result("x/a", median, {}), detail()])))[0]!.rows;
  expect(rows.map((row) => row.median)).toEqual([null, null, null, null, null, 3]);
});

test("rows that differ in one number at three values or more are a curve", () => {
  const rows = runs(page(
    ...[64, 2, 8].map((contexts): [Result, Detail] => [result("x/a", contexts * 10, { contexts }), detail()]),
    ...[1, 2].map((size): [Result, Detail] => [result("x/b", size, { size: String(size) }), detail()]),
    ...["p", "q", "r"].map((mode): [Result, Detail] => [result("x/c", 1, { mode }), detail()]),
  ))[0]!.rows;
  const found = curves(rows);
  expect(found.map((curve) => [curve.parameter, curve.label, curve.points.map((point) => point.x)])).toEqual([["contexts", "x/a", [2, 8, 64]]]);
});

test("another parameter in between makes another curve", () => {
  const rows = runs(page(...[1, 2, 3].flatMap((size) => ["p", "q"].map((mode): [Result, Detail] => [result("x/a", size, { size: String(size), mode }), detail()]))))[0]!.rows;
  expect(curves(rows).map((curve) => curve.label).sort()).toEqual(["x/a mode=p", "x/a mode=q"]);
});

test("the control's cost at the same value is taken off", () => {
  const sweep = (mechanism: string, costs: number[], control: boolean) => costs.map((cost, i): [Result, Detail] => [result(mechanism, cost, { working_set: String(4 ** i) }), detail(control)]);
  const found = curves(runs(page(...sweep("x/a", [105, 140, 300], false), ...sweep("c/t", [5, 30, 300], true)))[0]!.rows);
  expect(indirect(found.find((curve) => !curve.control)!, found.find((curve) => curve.control)!)).toEqual([{ x: 1, y: 100 }, { x: 4, y: 110 }]);
});

test("pairs of CPUs are read from the placement", () => {
  const rows = runs(page(...["pair:0-1", "pair:3-12", "pair:x-1", "two_cpus", "pair:0-1-2"].map((placement): [Result, Detail] => [result("x/a", 5, { placement }), detail()])))[0]!.rows;
  expect(pairs(rows).map(({ a, b }) => [a, b])).toEqual([[0, 1], [3, 12]]);
});
