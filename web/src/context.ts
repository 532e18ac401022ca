import type { PageData, Row, Run } from "./data";
import { thousands } from "./format";
import type { State } from "./state";

/** All that a view may use. */
export interface Context {
  data: PageData;
  runs: Run[];
  /** The run that is chosen. */
  run: Run;
  /** Its rows that pass the filters. */
  rows: Row[];
  /** Whether a row of any run passes them. */
  passes(row: Row): boolean;
  state: State;
  /** Room for a figure, CSS pixels. */
  width: number;
  /** Shows another state. */
  go(change: Partial<State>): void;
  /** Fragment of another state. */
  link(change: Partial<State>): string;
}

/** Colours that the style sheet has for families. */
const COLOURS = 8;

/** Colour of a family: by its place in the ladder. */
export function colour(family: string, data: PageData): string {
  const place = data.families.findIndex((known) => known.id === family);
  return place < 0 ? "var(--other)" : `var(--f${place % COLOURS})`;
}

/** One line about a family. */
export const familyTitle = (family: string, data: PageData): string =>
  data.families.find((known) => known.id === family)?.title ?? family;

/** The command that measured a run, as it was typed, without the folder of the program. */
export function typed(run: Run): string {
  const [program, ...rest] = run.data.run.command;
  const quoted = rest.map((word) => (/^[\w./=,:@%+~-]+$/.test(word) ? word : `'${word}'`));
  return [program?.split("/").at(-1) ?? "switchcost", ...quoted].join(" ");
}

/** Sum over rows. */
export const total = (rows: Row[], value: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + value(row), 0);

/** How much is behind the rows of a figure. */
export const counted = (rows: Row[]): string =>
  `${thousands(rows.length)} ${rows.length === 1 ? "row" : "rows"}, ${thousands(total(rows, (row) => row.result.starts))} process runs, ${thousands(total(rows, (row) => row.result.samples))} samples`;
