import { expect, test } from "@playwright/test";
import type { Row, Run } from "../../src/data";
import { bars, eachUnit, named, onlyEachUnit } from "../../src/views/percentiles";

interface Of {
  experiment?: string;
  timing?: string;
  percentiles?: Record<string, number>;
  reading?: number | null;
  histogram?: [number, number][];
  control?: boolean;
}

const row = (key: string, of: Of = {}): Row =>
  ({
    key,
    experiment: of.experiment ?? "wait",
    result: { timing: of.timing ?? "batch", percentiles: of.percentiles ?? {}, reading: of.reading ?? null },
    detail: { histogram: of.histogram ?? [], control: of.control ?? false },
  }) as unknown as Row;

const run = (...rows: Row[]): Run => ({ rows }) as Run;

const keys = (groups: Row[][]): string[][] => groups.map((rows) => rows.map(({ key }) => key));

test("a row without figures belongs to those that were asked the same", () => {
  const all = run(
    row("batch", { experiment: "switch" }),
    row("each", { experiment: "switch", timing: "each", percentiles: { p50: 1 } }),
    row("waits", { percentiles: { p50: 1 } }),
    row("overloaded"),
    row("failed", { experiment: "switch", timing: "each" }),
  );
  expect(keys(eachUnit(all))).toEqual([
    ["each", "failed"],
    ["waits", "overloaded"],
  ]);
  // What a filter leaves is judged by the whole run.
  expect(keys(eachUnit(all, all.rows.slice(3, 4)))).toEqual([["overloaded"]]);
  expect(onlyEachUnit(all)).toBe(false);
  expect(onlyEachUnit(run(row("waits", { percentiles: { p50: 1 } }), row("overloaded")))).toBe(true);
  expect(
    onlyEachUnit(run(row("waits", { percentiles: { p50: 1 } }), row("loop", { timing: "x", control: true }))),
  ).toBe(true);
  expect(onlyEachUnit(run(row("batch")))).toBe(false);
});

test("bars touch their neighbours, and what reading the counter costs is off them", () => {
  const histogram: [number, number][] = [
    [100, 3],
    [110, 5],
    [200, 1],
  ];
  const [first, second, third] = bars(row("r", { histogram }), 1.1);
  expect(first!.high).toBeCloseTo(second!.low, 9);
  expect(third).toMatchObject({ count: 1 });
  const less = bars(row("r", { histogram, reading: 105 }), 1.1);
  expect(less.map(({ count }) => count)).toEqual([5, 1]);
  expect(less[0]!.low).toBe(0);
  expect(less[1]!.high).toBeCloseTo(200 * Math.sqrt(1.1) - 105, 9);
});

test("names of marks that are close stand together", () => {
  const mark = (key: string, share: string, value: number) => ({
    key,
    share,
    value,
    family: "f",
    low: null,
    high: null,
  });
  const marks = [mark("a", "p50", 10), mark("a", "p90", 11), mark("a", "p99", 1000), mark("b", "p50", 1000)];
  const found = named(marks, [1, 10_000], 400);
  expect(found.map(({ key, text }) => [key, text])).toEqual([
    ["a", "p50 p90"],
    ["a", "p99"],
    ["b", "p50"],
  ]);
  expect(found[0]!.x).toBeCloseTo(Math.sqrt(110), 9);
  // Two that join may reach a third that each of them left alone; none leaves the axis.
  const reaching = [mark("a", "p50", 10), mark("a", "p90", 20), mark("a", "p99", 42), mark("a", "p99.9", 43)];
  expect(named(reaching, [1, 10_000], 400).map(({ text }) => text)).toEqual(["p50 p90 p99 p99.9"]);
  const edge = named([mark("a", "p50", 1)], [1, 10_000], 400);
  expect(edge[0]!.x).toBeGreaterThan(1);
});
