import { expect, test } from "@playwright/test";
import {
  amount,
  BYTES,
  either,
  times,
  digits,
  duration,
  factor,
  logTicks,
  percent,
  range,
  TIME,
  tick,
} from "../../src/format";

test("three digits, grouped, with units", () => {
  expect([0.334, 2.236, 71.47, 216.4, 1062.2, 0, -3.5].map(digits)).toEqual([
    "0.334",
    "2.24",
    "71.5",
    "216",
    "1,062",
    "0",
    "-3.50",
  ]);
  expect([1.2, 999.9, 1062, 2.5e6, 3e9].map(duration)).toEqual(["1.20 ns", "1.00 µs", "1.06 µs", "2.50 ms", "3.00 s"]);
  expect(amount(4096, BYTES)).toBe("4.00 KiB");
  expect([tick(1e3, TIME), tick(5e5, TIME), tick(65536, BYTES)]).toEqual(["1 µs", "500 µs", "64 KiB"]);
  expect([factor(1), factor(27.31), factor(15500), factor(0.034)]).toEqual(["×1.00", "×27.3", "×15,500", "÷29.4"]);
  expect([times(1), times(1.153), times(0.0011), times(0.001, "", " cheaper than")]).toEqual([
    "1×",
    "1.15× more",
    "909× less",
    "1,000× cheaper than",
  ]);
  expect([either([1313, 27976], TIME), either([980, 1010], TIME), either([2], TIME), either([], TIME)]).toEqual([
    "1.31 or 28.0 µs",
    "980 ns or 1.01 µs",
    "2.00 ns",
    "–",
  ]);
  expect(either([27976, 1313], TIME, [0.517, 0.483])).toBe("28.0 (52 %) or 1.31 µs (48 %)");
  expect([range([1020, 1430], TIME), range([980, 1010], TIME), range([2.4, 2.402], TIME)]).toEqual([
    "1.02 – 1.43 µs",
    "980 ns – 1.01 µs",
    "2.40 ns",
  ]);
  expect(percent(0.0123)).toBe("1.2 %");
});

test("what is not a number is a dash, and what is huge stays short", () => {
  for (const write of [digits, duration, percent])
    for (const value of [null, NaN, Infinity]) expect(write(value)).toBe("–");
  for (const value of [1e300, 1e18, Number.MAX_VALUE, -1e300, 5e-324]) expect(duration(value).length).toBeLessThan(20);
});

test("a logarithmic axis has at least two ticks and not too many", () => {
  for (const [low, high] of [
    [1, 40_000],
    [1.2, 1.4],
    [1000, 1001],
    [1e-3, 1e15],
    [1, 1e300],
  ] as [number, number][]) {
    const ticks = logTicks([low, high], TIME, 8);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(20);
    expect(ticks.every((tick) => tick >= low * 0.999 && tick <= high * 1.001)).toBe(true);
  }
});
