import { mkdirSync, rmSync } from "node:fs";
import { type Entry, EXAMPLE, example, FOLDER, HOSTILE, page, poison, realRuns, runFile } from "./fixtures";

/** The same run under another name and time. */
function another(records: Entry[], nth: number): Entry[] {
  const [run, ...rest] = structuredClone(records);
  run.id = `run-${String(nth).padStart(3, "0")}`;
  run.machine.stable["cpu.model_name"] = `Model ${nth % 5}`;
  return [run, ...rest];
}

/** 40 rows: some of the example's again, with a parameter. */
function forty(records: Entry[]): Entry[] {
  const variants = records.filter((record) => record.t === "variant");
  const starts = records.filter((record) => record.t === "invocation");
  const more = variants.slice(0, 40 - variants.length).map((variant, i) => ({ ...variant, index: variants.length + i, parameters: { copy: "1" } }));
  const again = starts.filter((start) => start.variant < more.length).map((start) => ({ ...start, variant: start.variant + variants.length }));
  // As many starts as an ordinary run has; two thirds of the example's are of rows that took all 40.
  return [records[0], ...variants, ...more, ...[...starts, ...again].filter((start) => start.round < 12)];
}

function huge(records: Entry[]): Entry[] {
  const most = 9_007_199_254_740_991_000;
  return records.map((record, i) => {
    if (record.t !== "invocation") return record;
    const wild = structuredClone(record);
    if (wild.hello && i % 5 === 0) wild.hello.clock.ticks_per_second = i % 2 ? 1 : most;
    for (const samples of wild.samples) {
      if (i % 3 === 0) samples.ticks = samples.ticks.map(() => most);
      if (i % 3 === 1) samples.ticks = samples.ticks.map((_: number, j: number) => (j % 2 ? -most : 0));
      if (i % 7 === 0) samples.units = most;
    }
    wild.started_unix_ns = i % 2 ? most : -most;
    if (wild.evidence?.kernel) wild.evidence.kernel.voluntary = most;
    return wild;
  });
}

function thousands(records: Entry[]): Entry[] {
  const [run] = records;
  const variant = records.find((record) => record.t === "variant");
  const start = records.find((record) => record.t === "invocation");
  const ids = Array.from({ length: 10_000 }, (_, i) => i);
  return [
    run,
    ...ids.map((i) => ({ ...variant, index: i, mechanism: `family${i % 50}/m${i}`, parameters: { p: `${HOSTILE}${i}` } })),
    ...ids.map((i) => ({ ...start, variant: i, sequence: i, verdict: ["verified", "contradicted", "broken", "unobservable"][i % 4], reason: i % 4 ? HOSTILE : "" })),
  ];
}

export default function setup(): void {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const records = example();
  page("ordinary", EXAMPLE);
  const two = runFile("second", another(records, 1));
  page("several", ...realRuns(), two, EXAMPLE);
  page("hostile", runFile("poisoned", records.map((record) => poison(record))), runFile("huge", huge(records)));
  page("thousands", runFile("thousands", thousands(records)));
  const many = forty(records);
  page("many", ...Array.from({ length: 200 }, (_, i) => runFile(`many-${i}`, another(many, i))));
}
