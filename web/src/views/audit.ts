import * as Plot from "@observablehq/plot";
import type { Context } from "../context";
import { h } from "../dom";
import { figure, nothing } from "../figure";
import { duration, percent, thousands } from "../format";
import { rowPlot } from "../rowplot";

/** Programs on one page. */
const MOST = 12;

type Fields = Record<string, unknown>;

const fields = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** What `switchcost audit` said of running programs; the file may come from anybody, so each value is taken for what it is. */
export function audit(context: Context): HTMLElement[] {
  if (context.data.audits.length === 0)
    return [
      nothing(
        "No answer of `audit` is on this page. One is made, and put beside a run, by:",
        "switchcost audit --pid PID --format json >audit.json",
        "switchcost report latest audit.json",
      ),
    ];
  return context.data.audits.slice(0, MOST).map((one, nth) => program(fields(one), nth, context));
}

function program(of: Fields, nth: number, context: Context): HTMLElement {
  const seconds = number(of["seconds"]) ?? 0;
  const share = (ns: unknown): number => (number(ns) ?? 0) / Math.max(seconds, 1e-9) / 1e9;
  const kinds = list(of["kinds"])
    .map(fields)
    .map((kind, i) => ({
      key: `k${i}`,
      name: text(kind["kind"]).replaceAll("_", " "),
      switches: number(kind["switches"]) ?? 0,
      share: share(kind["cost_ns"]),
      delay: number(kind["delay_each_us"]),
    }))
    .sort((a, b) => b.share - a.share);
  const threads = list(of["threads"])
    .map(fields)
    .map((thread) => ({
      name: text(thread["name"]),
      id: number(thread["thread"]),
      share: share(thread["cost_ns"]),
      thread,
    }))
    .sort((a, b) => b.share - a.share);
  const whole = fields(of["share_of_a_cpu"]);
  const [low, high] = [number(whole["low"]), number(whole["high"])];
  const most = Math.max(0.001, high ?? 0, ...kinds.map((kind) => kind.share));
  const per = (count: number): string => `${thousands(count / Math.max(seconds, 1e-9))}/s`;
  const bars = kinds.map((kind) => ({ ...kind, zero: 0 }));
  const total = { key: "total", low, high, value: number(whole["value"]), zero: 0 };
  const picture = rowPlot({
    items: [
      { key: "total", label: "all switches", end: percent(total.value) },
      ...kinds.map((kind) => ({
        key: kind.key,
        label: kind.name,
        end: `${percent(kind.share)}  ${per(kind.switches)}`,
      })),
    ],
    width: context.width,
    x: {
      domain: [0, most * 1.05],
      ticks: Math.max(3, Math.min(8, context.width / 110)),
      tickFormat: ((value: number) => `${Number((value * 100).toPrecision(3))} %`) as (x: unknown) => string,
      label: null,
    } as unknown as Plot.ScaleOptions,
    marks: (seat) => [
      Plot.link(bars, { y: "key", x1: "zero", x2: "share", stroke: "var(--f4)", strokeWidth: 9, dy: seat.dy }),
      Plot.link([total], { y: "key", x1: "zero", x2: "value", stroke: "var(--f3)", strokeWidth: 9, dy: seat.dy }),
      Plot.link([total], { y: "key", x1: "low", x2: "high", stroke: "var(--text)", strokeWidth: 2, dy: seat.dy }),
    ],
  });
  const said = [...list(of["not_covered"]), ...list(of["notes"])].map(text).filter(Boolean).slice(0, 40);
  return figure({
    id: `audit-${nth}`,
    title: text(of["sentence"]) || "What its switches cost",
    caption: `Share of one CPU that each kind of switch costs ${text(of["program"])}; dark line: 95 % interval of the sum. ${thousands((number(of["voluntary"]) ?? 0) + (number(of["involuntary"]) ?? 0))} switches in ${Number(seconds.toPrecision(3))} s.`,
    command: `switchcost audit ${text(of["service"]) || `--pid ${number(of["pid"]) ?? "PID"}`}`,
    n: `${kinds.length} kinds of switches, ${threads.length} threads`,
    picture,
    below:
      said.length > 0 &&
      h(
        "details",
        {},
        h("summary", {}, "What this does not cover"),
        h("ul", { class: "said" }, ...said.map((one) => h("li", {}, one))),
      ),
    table: {
      head: [
        "thread",
        "id",
        "switches waiting",
        "switches taken off",
        "CPU time",
        "share of one CPU",
        "CPUs",
        "waits in",
      ],
      rows: threads
        .slice(0, 500)
        .map(({ name, id, share, thread }) => [
          name,
          String(id ?? "–"),
          thousands(number(thread["voluntary"]) ?? 0),
          thousands(number(thread["involuntary"]) ?? 0),
          duration(number(thread["cpu_ns"])),
          percent(share),
          list(thread["cpus"]).map(String).join(", "),
          list(thread["waits_in"]).map(text).slice(0, 2).join(", "),
        ]),
    },
  });
}
