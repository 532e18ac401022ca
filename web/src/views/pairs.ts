import * as Plot from "@observablehq/plot";
import { type Context, counted, typed } from "../context";
import { group, type Pair, pairs as find } from "../data";
import { figure, nothing } from "../figure";
import { duration } from "../format";
import { drawn } from "../rowplot";

/** Which two CPUs a switch goes between, and what it costs. */
export function pairs(context: Context): HTMLElement[] {
  const all = find(context.rows);
  if (all.length === 0) return [nothing("No row here is placed on a named pair of CPUs. A map of them comes from:", "switchcost sweep cpus PATTERN")];
  const groups = new Map<string, Pair[]>();
  for (const pair of all) {
    const key = pair.row.label.replace(pair.row.placement, "").trim();
    group(groups, key, pair);
  }
  return [...groups].map(([label, pairs]) => one(context, label, pairs));
}

function one(context: Context, label: string, found: Pair[]): HTMLElement {
  // What was measured in one direction only holds for the other too, and is drawn paler.
  const measured = new Set(found.map((pair) => `${pair.a}-${pair.b}`));
  const mirrored = found.filter((pair) => !measured.has(`${pair.b}-${pair.a}`)).map((pair) => ({ ...pair, a: pair.b, b: pair.a }));
  const cpus = [...new Set(found.flatMap((pair) => [pair.a, pair.b]))].sort((a, b) => a - b);
  const side = Math.max(140, Math.min(context.width, 90 + cpus.length * 46));
  const cost = (pair: Pair): number => pair.row.median ?? 0;
  const words = cpus.length * 46 <= context.width - 60 || cpus.length <= 6;
  const middle = Math.sqrt(Math.min(...found.map(cost)) * Math.max(...found.map(cost)));
  const picture = drawn({
    width: side,
    height: side,
    marginLeft: 52,
    marginTop: 46,
    marginRight: 10,
    marginBottom: 10,
    x: { type: "band", domain: cpus, label: "CPU of the second context", axis: "top", tickSize: 0 },
    y: { type: "band", domain: cpus, label: "CPU of the first", tickSize: 0 },
    color: { type: "log", scheme: "viridis", reverse: true },
    style: { fontSize: "12px" },
    marks: [
      Plot.cell(found, { x: "b", y: "a", fill: cost, inset: 1, title: (pair: Pair) => `CPU ${pair.a} and ${pair.b}: ${duration(pair.row.median)}` }),
      Plot.cell(mirrored, { x: "b", y: "a", fill: cost, fillOpacity: 0.6, inset: 1 }),
      words ? Plot.text(found, { x: "b", y: "a", text: (pair: Pair) => duration(pair.row.median), fill: (pair: Pair) => (found.length > 1 && cost(pair) > middle ? "white" : "black"), fontSize: 11 } as Plot.TextOptions) : null,
    ],
  });
  return figure({
    id: `pairs-${label.replace(/\W/g, "-")}`,
    title: `CPU pairs: ${label}`,
    caption: "One cell a pair of CPUs, dark is dear; the scale is logarithmic. Paler cells mirror a pair that was measured in the other order.",
    command: typed(context.run),
    n: counted(found.map((pair) => pair.row)),
    picture,
    table: { head: ["first CPU", "second CPU", "median", "95 % interval", "verdict"], rows: found.map((pair) => [String(pair.a), String(pair.b), duration(pair.row.median), pair.row.low === null ? "–" : `${duration(pair.row.low)} – ${duration(pair.row.high)}`, pair.row.result.verdict]) },
  });
}
