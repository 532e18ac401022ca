/** Figures that others published. */

import type { Literature } from "./data";
import { duration } from "./format";

/** `E. Bendersky, Measuring …` → `Bendersky 2018`. */
export function author(value: Literature): string {
  const [who = value.name, ...rest] = value.source.split(", ");
  const several = rest.length > 0 && /^[A-Z][\w-]* and [A-Z]/.test(rest[0]!) ? `${who} et al.` : who;
  const name = several.replace(/^(?:[A-Z]\. )+/, "").replace(/ (?:issue|pull request) \d+$/, "");
  return value.year === null ? name : `${name} ${value.year}`;
}

/** The figure: one, a range, or what it is below. */
export const quoted = (value: Literature): string =>
  `${value.upper_bound ? "below " : ""}${duration(value.low)}${value.high === null ? "" : ` – ${duration(value.high)}`}`;

/** What is known against it. */
const but = (value: Literature, before: string): string =>
  value.caveat === null ? "" : `${before}but: ${value.caveat}`;

/** What a reader of the picture must know of a mark: without pointing at it, and on paper. */
export const where = (value: Literature): string =>
  `${author(value)}, ${quoted(value)}: ${value.machine}${but(value, "; ")}`;

/** All of it. */
export const told = (value: Literature): string =>
  `${author(value)}, ${quoted(value)}: ${value.what}, ${value.machine}; ${value.source}${value.read ? "" : " (as quoted elsewhere)"}${but(value, "; ")}`;
