/** Numbers as people read them. */

import type { Measure } from "./page";

const group = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ",");

/** A whole number, thousands grouped. */
export const thousands = (value: number): string => group(String(Math.round(value)));

/** Three significant digits, thousands grouped; `–` for what is not a number. */
export function digits(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e9 || size < 1e-3) return value.toExponential(2);
  if (size < 0.995) return value.toFixed(3);
  if (size < 9.995) return value.toFixed(2);
  if (size < 99.95) return value.toFixed(1);
  const whole = Math.round(value);
  return (whole < 0 ? "-" : "") + group(String(Math.abs(whole)));
}

/** How figures are written. */
export type Quantity = Pick<Measure, "name" | "unit" | "scale" | "base">;

/** Times and sizes beside the figures of rows. */
export const TIME: Quantity = {
  name: "time",
  unit: "ns",
  base: 10,
  scale: [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
  ],
};
export const BYTES: Quantity = {
  name: "memory",
  unit: "B",
  base: 4,
  scale: [
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
    [1, "B"],
  ],
};

function scaled(value: number | null, quantity: Quantity, write: (value: number) => string): string {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e18) return `${value.toExponential(1)} ${quantity.unit}`;
  const fits = quantity.scale.find(([factor]) => size >= factor * 0.9995) ?? quantity.scale.at(-1);
  const [factor, unit] = fits ?? [1, quantity.unit];
  return `${write(value / factor)} ${unit}`;
}

/** 1,062 → `1.06 µs`. */
export const duration = (ns: number | null): string => scaled(ns, TIME, digits);
/** With the unit of its quantity. */
export const amount = (value: number | null, quantity: Quantity): string => scaled(value, quantity, digits);
/** One of several, each with its share if it has one: a unit that all have stands once. */
export function either(values: number[], quantity: Quantity, shares: number[] = []): string {
  const each = values.map((value) => amount(value, quantity));
  const unit = each.at(-1)?.replace(/^.* /, " ") ?? "";
  const alike = each.every((text) => text.endsWith(unit));
  const told = each.map((text, i) => {
    const short = alike && i < each.length - 1 ? text.slice(0, -unit.length) : text;
    return shares[i] === undefined ? short : `${short} (${percent(shares[i])})`;
  });
  return told.join(" or ") || "–";
}
/** From one to the other: `1.02 – 1.43 µs`, one amount if they are written alike. */
export function range(ends: number[], quantity: Quantity): string {
  const [low = "", high = ""] = ends.map((end) => amount(end, quantity));
  const unit = high.replace(/^.* /, " ");
  return low === high ? low : `${low.endsWith(unit) ? low.slice(0, -unit.length) : low} – ${high}`;
}
/** Without superfluous digits: `1 µs`, `500 ns`. */
export const tick = (value: number, quantity: Quantity): string =>
  scaled(value, quantity, (scaled) => String(Number(scaled.toPrecision(3))));

/** A fraction as percent with two significant digits. */
export function percent(fraction: number | null): string {
  if (fraction === null || !Number.isFinite(fraction)) return "–";
  const value = fraction * 100;
  const size = Math.abs(value);
  return `${size < 0.995 ? value.toFixed(2) : size < 9.95 ? value.toFixed(1) : value.toFixed(0)} %`;
}

/** `27.3× more`, `908× less`: no ratio below one. */
export function times(ratio: number, more = " more", less = " less"): string {
  const below = ratio < 0.995;
  return ratio === 1 ? "1×" : `${factor(below ? 1 / ratio : ratio).slice(1)}×${below ? less : more}`;
}

/** `×27.3`, and below one `÷908`. */
export function factor(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return "";
  if (value > 0 && value < 0.995) return factor(1 / value).replace("×", "÷");
  return `×${value < 9.95 ? value.toFixed(2) : value < 99.5 ? value.toFixed(1) : value < 1e9 ? group(String(Math.round(value))) : value.toExponential(1)}`;
}

/** Round numbers at equal distances. */
function linearTicks(low: number, high: number, room: number): number[] {
  const rough = (high - low) / Math.max(2, Math.min(room, 8));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / step);
  const count = Math.max(0, Math.floor(high / step) - first + 1);
  return Array.from({ length: Math.min(count, 20) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Ticks of a logarithmic axis: powers of the quantity's base (ten; of bytes four), with 2 and 5 between where there is room. */
export function logTicks([low, high]: [number, number], quantity: Quantity, room: number): number[] {
  const { base } = quantity;
  const from = Math.floor(Math.log(low) / Math.log(base));
  const to = Math.ceil(Math.log(high) / Math.log(base));
  const powers = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => base ** (from + i));
  const within = (ticks: number[]): number[] => ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  const fine = powers.flatMap((p) => [1, 2, 5].filter((step) => step < base).map((step) => step * p));
  if (within(fine).length < 3) return linearTicks(low, high, room);
  if (within(fine).length <= room) return within(fine);
  const coarse = within(powers);
  const step = Math.ceil(coarse.length / Math.max(2, room));
  return coarse.filter((_, i) => i % step === 0);
}
