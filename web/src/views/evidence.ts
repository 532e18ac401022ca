import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import type { Row } from "../data";
import { h, type Table } from "../dom";
import { figure, nothing } from "../figure";
import { digits, percent } from "../format";
import { rowPlot } from "../rowplot";
import { lines, paged, words } from "./common";

const observed = (row: Row): number | null => row.result.kernel_switches;

function range(
  between: [number | null, number | null] | null | undefined,
  write: (value: number | null) => string,
): string {
  if (!between) return "any";
  const [low, high] = between;
  return low === high ? write(low) : `${write(low)} – ${write(high)}`;
}

/** A few stray switches are a small number, not none. */
export const rate = (value: number | null): string =>
  value === null ? "not observed" : value === 0 ? "0" : value < 0.0005 ? "< 0.001" : value.toFixed(3);

/** What was expected, what was seen, and what follows: a sentence, and a picture of the rows that it does not hold for. */
export function evidence(context: Context): HTMLElement[] {
  if (context.rows.length === 0) return [nothing("No row passes the filters.")];
  const never = context.rows.filter(({ result }) => ["unsupported", "unmeasured"].includes(result.verdict));
  const failed = context.rows.filter((row) => row.result.verdict !== "verified" && !never.includes(row));
  const verdicts = new Map<string, number>();
  for (const row of context.rows) verdicts.set(row.result.verdict, (verdicts.get(row.result.verdict) ?? 0) + 1);
  const passed = verdicts.get("verified") ?? 0;
  const others = [...verdicts].filter(([verdict]) => verdict !== "verified").map(([verdict, n]) => `${n} ${verdict}`);
  const all = failed.length === 0;
  const sentence =
    passed === context.rows.length
      ? `${passed} of ${context.rows.length} rows passed every check: order of turns, kernel switches, CPUs, and the host's own observations.`
      : `${passed} of ${context.rows.length} rows passed every check; ${others.join(", ")}.`;
  const { shown: rows, pager } = paged(context.rows, context);
  return [
    figure({
      id: "evidence",
      title: all ? `Every ${never.length > 0 ? "measured " : ""}row passed its checks` : "Rows that failed a check",
      caption: all
        ? sentence
        : `${sentence} Grey: the kernel switches that the claim implies; dot: those that the kernel counted; cross: do not use this figure. Contradicted: the evidence refutes the claim. Unobservable: a counter cannot be read here. Broken: no usable answer.`,
      command: typed(context.run),
      n: counted(context.rows),
      picture: all ? null : drawnEvidence(context, paged(failed, context).shown),
      extra: [pager],
      below:
        never.length > 0 &&
        h(
          "details",
          { open: never.length < 9 },
          h("summary", {}, `Rows that were not measured: ${never.length}`),
          h(
            "ul",
            { class: "said" },
            ...never.slice(0, 100).map((row) => h("li", {}, `${row.label}: ${words(row).words}`)),
          ),
        ),
      table: table(rows),
    }),
  ];
}

function drawnEvidence(context: Context, rows: Row[]): Element {
  const seen = rows.filter((row) => observed(row) !== null);
  // Where nothing was counted, words stand in the place of the marks.
  const expected = seen.flatMap((row) => {
    const between = row.detail.expected?.kernel_switches;
    return between && between[0] !== null && between[1] !== null
      ? [{ key: row.key, low: between[0], high: between[1] }]
      : [];
  });
  const most = Math.max(1, ...seen.map((row) => observed(row) ?? 0), ...expected.map((one) => one.high));
  const alarming = (row: Row): boolean => row.result.verdict === "contradicted" || row.result.verdict === "broken";
  const bad = (row: Row): boolean => row.result.verdict !== "verified" && row.result.verdict !== "unobservable";
  return rowPlot({
    items: lines(rows, context, (row) => {
      const why = words(row);
      const shown =
        observed(row) === null ? { words: why.words ?? "the kernel's count cannot be read", alarm: alarming(row) } : {};
      return { ...shown, end: row.result.verdict };
    }),
    width: context.width,
    x: {
      type: "symlog",
      constant: 0.5,
      domain: [0, most * 1.1],
      ticks: [0, 0.5, 1, 2, 5, 10, 100, 1000].filter((value) => value <= most * 1.1),
      tickFormat: digits as (value: unknown) => string,
      label: null,
    } as Plot.ScaleOptions,
    marks: (seat) => [
      Plot.link(expected, {
        y: "key",
        x1: "low",
        x2: "high",
        stroke: "var(--faint)",
        strokeOpacity: 0.45,
        strokeWidth: 9,
        strokeLinecap: "round",
        dy: seat.dy,
      }),
      Plot.dot(seen, {
        y: "key",
        x: observed,
        r: 4,
        symbol: (row: Row) => (bad(row) ? "times" : "circle"),
        fill: (row: Row) => (bad(row) ? "none" : colour(row.family, context.data)),
        stroke: (row: Row) => (alarming(row) ? "var(--alarm)" : colour(row.family, context.data)),
        strokeWidth: 1.5,
        dy: seat.dy,
        title: (row: Row) => `${row.label}: ${rate(observed(row))} kernel switches each`,
      }),
    ],
  });
}

function table(rows: Row[]): Table {
  return {
    head: [
      "mechanism",
      "verdict",
      "reason",
      "kernel switches expected",
      "observed",
      "involuntary",
      "same-CPU switches expected",
      "observed",
      "CPUs",
      "turns and token",
      "address spaces expected",
      "process runs",
      "left out as disturbed",
    ],
    rows: rows.map((row) => {
      const found = row.result;
      return [
        row.label,
        row.result.verdict,
        row.result.reason,
        range(row.detail.expected?.kernel_switches, digits),
        rate(found.kernel_switches),
        percent(found.involuntary_share),
        range(row.detail.expected?.same_cpu_hops, percent),
        percent(found.same_cpu_hops),
        found.cpus.join(", "),
        found.turns_ok === null ? "not counted" : found.turns_ok ? "agree" : "disagree",
        String(row.detail.expected?.address_spaces ?? "–"),
        String(row.result.starts),
        String(row.result.disturbed),
      ];
    }),
  };
}
