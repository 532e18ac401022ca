import type { Context } from "../context";
import { familyTitle } from "../context";
import { type Experiment, group, type PageData, type Row } from "../data";
import { h, select, type Table } from "../dom";
import type { Item } from "../rowplot";

/** Rows in one picture: more would be neither readable nor quick. */
const MOST_ROWS = 120;

/** Rows of the page that is chosen, and the way to the others. */
export function paged<T>(all: T[], context: Context): { shown: T[]; pager: HTMLElement | null } {
  if (all.length <= MOST_ROWS) return { shown: all, pager: null };
  const pages = Math.ceil(all.length / MOST_ROWS);
  const page = Math.min(context.state.page, pages - 1);
  const to = (target: number, text: string): HTMLElement | null =>
    target >= 0 && target < pages ? h("a", { href: context.link({ page: target }) }, text) : null;
  const first = page * MOST_ROWS;
  const shown = all.slice(first, first + MOST_ROWS);
  const pager = h(
    "p",
    { class: "pager" },
    `Rows ${first + 1} to ${first + shown.length} of ${all.length}. `,
    to(page - 1, "Previous"),
    " ",
    to(page + 1, "Next"),
    " Filters narrow them down.",
  );
  return { shown, pager };
}

/** Lines of a picture, with the family's title above its rows. */
export function lines(rows: Row[], context: Context, line: (row: Row) => Partial<Item>): Item[] {
  let family = "";
  return rows.flatMap((row) => {
    const item: Item = { key: row.key, label: row.label, ...line(row) };
    if (row.family === family) return [item];
    family = row.family;
    return [{ key: `heading ${row.key}`, label: familyTitle(family, context.data), heading: true }, item];
  });
}

/** The parts of a label: mechanism, words, and what stands in parentheses at its end, `(200 in a row)`. */
export const parts = (label: string): string[] => label.match(/\(.*\)$|\S+/g) ?? [];

/** Parts after the mechanism that all of these labels have: they need not stand in each. */
export function shared(rows: Row[]): string[] {
  const [first = [], ...others] = rows.map((row) => parts(row.label).slice(1));
  return others.length === 0 ? [] : first.filter((word) => others.every((words) => words.includes(word)));
}

/** A label without parts that stand elsewhere. */
export const without = (label: string, words: string[]): string =>
  parts(label)
    .filter((word, i) => i === 0 || !words.includes(word))
    .join(" ");

/** Why a row has no mark; alarming if its evidence contradicts it or its probe broke. */
export function words(row: Row): { words?: string; alarm?: boolean } {
  const alarm = row.result.verdict === "contradicted" || row.result.verdict === "broken";
  if (row.figures.length > 0) return {};
  const verdict = row.result.verdict === "verified" ? "no figure above zero" : row.result.verdict;
  return { words: row.result.reason ? `${verdict}: ${row.result.reason}` : verdict, alarm };
}

/** What a table tells under its rows, by their place; empty lines are none. */
export const notes = (rows: Row[], of: (row: Row) => string[]): NonNullable<Table["under"]> =>
  new Map(
    rows.flatMap((row, nth) => {
      const lines = of(row).filter(Boolean);
      const title = `${lines.length} ${lines.length === 1 ? "note" : "notes"}`;
      return lines.length > 0 ? [[nth, { title, lines }] as const] : [];
    }),
  );

/** Rows of each experiment, in the order of their first row. */
export function byExperiment(rows: Row[]): [string, Row[]][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) group(groups, row.experiment, row);
  return [...groups];
}

/** The row that is looked at closely: the one chosen, else the run's reference, else the first that has something to show. */
export function focus({ rows, run, state }: Context, fits: (row: Row) => boolean): Row | undefined {
  const candidates = rows.filter(fits);
  const named = (label: string | null): Row | undefined => candidates.find((row) => row.label === label);
  return named(state.row) ?? named(run.data.run.reference) ?? candidates[0];
}

/** A choice among the rows that have something to show. */
export function rowChooser(id: string, row: Row, { rows, go }: Context, fits: (row: Row) => boolean): HTMLElement {
  const choices = rows.filter(fits).slice(0, 500);
  return select(
    id,
    "Row",
    choices.map(({ label }) => [label, label] as const),
    row.label,
    (label) => go({ row: label }),
  );
}

/** The commands that measure experiments. */
export const commands = (data: PageData, wanted: (experiment: Experiment) => boolean): string[] =>
  data.experiments.filter(wanted).map(({ name }) => `switchcost run PATTERN --experiment ${name}`);
