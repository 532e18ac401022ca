import { type Context, counted, typed } from "../context";
import { byQuantity, type PageData, type Row } from "../data";
import { h } from "../dom";
import { nothing } from "../figure";
import { without } from "./common";
import { strewn } from "./strewn";

/** How placements are drawn, in their order: the first is filled. */
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star"] as const;

interface Placed {
  label: string;
  rows: Row[];
}

/** Rows that differ in their placement only: not in a parameter, nor in any other part of their labels. */
function groups(rows: Row[], { placements }: PageData): Placed[] {
  const names = placements.map(({ name }) => name);
  const found = new Map<string, Placed>();
  for (const row of rows) {
    if (row.figures.length === 0 || !names.includes(row.placement)) continue;
    const label = without(row.label, names);
    const { experiment, timing, contexts, parameters } = row.result;
    const key = JSON.stringify([label, row.probe, experiment, timing, contexts, Object.entries(parameters).sort()]);
    const known = found.get(key);
    if (known) known.rows.push(row);
    else found.set(key, { label, rows: [row] });
  }
  return [...found.values()];
}

const several = ({ rows }: Placed): boolean => new Set(rows.map((row) => row.placement)).size > 1;

/** Those with at least two placements. */
export const placed = (rows: Row[], data: PageData): Placed[] => groups(rows, data).filter(several);

/** The command that measures these mechanisms in every placement. */
export const placementsOf = (mechanisms: string, { placements }: PageData): string =>
  `switchcost run ${mechanisms} --placement ${placements.map(({ name }) => name).join(",")}`;

/** One line per mechanism with a mark for each placement. */
export function placement(context: Context): HTMLElement[] {
  const all = placed(context.rows, context.data);
  if (all.length === 0)
    return [
      nothing(
        "No mechanism here was measured in two placements. To compare them:",
        placementsOf("thread process", context.data),
      ),
    ];
  const names = context.data.placements.map(({ name }) => name);
  const kinds = context.data.placements.map(({ title }, nth) => ({
    title,
    symbol: SYMBOLS[nth % SYMBOLS.length] ?? "circle",
    fill: nth === 0 ? "own" : "var(--paper)",
  }));
  return byQuantity(all, ({ rows }) => rows[0]!, context.data).map(([quantity, of]) => {
    // Of those in the usual place there are many, and their number is enough.
    const single = groups(context.rows, context.data).filter(
      (one) => !several(one) && one.rows[0]!.quantity === quantity,
    );
    const usual = single.filter(({ rows }) => rows[0]!.placement === names[0]).length;
    const alone = single.flatMap(({ rows: [row] }) => (row!.placement === names[0] ? [] : [row!.label]));
    const parts = [
      usual > 0 && `${usual} ${usual === 1 ? "row" : "rows"} on ${context.data.placements[0]!.title}`,
      ...alone.slice(0, 40),
    ].filter(Boolean);
    const lines = of.map(({ label, rows }) => ({
      label,
      rows: rows.map((row) => ({ row, kind: names.indexOf(row.placement) })),
    }));
    return strewn(context, lines, kinds, quantity, {
      id: `placement-${quantity.name}`,
      title: "Where the contexts run",
      caption:
        "Medians with 95 % intervals, or each mode of a bimodal row. Two idle CPUs are often slowest, because the second must wake up. At the end of a line: most expensive ÷ cheapest.",
      command: typed(context.run),
      n: counted(of.flatMap(({ rows }) => rows)),
      below: parts.length > 0 && h("p", { class: "fine" }, `Measured in one placement only: ${parts.join(", ")}.`),
    });
  });
}
