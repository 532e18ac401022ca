import { test as setup } from "@playwright/test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Entry,
  EXAMPLE,
  example,
  FOLDER,
  HOSTILE,
  KEPT,
  kept,
  page,
  poison,
  ROWS,
  runFile,
  RUNS,
  shown,
  WAITS,
} from "./fixtures";

/** The same run under another name and time. */
function another(records: Entry[], nth: number): Entry[] {
  const [run, ...rest] = structuredClone(records);
  run.id = `run-${String(nth).padStart(3, "0")}`;
  Object.assign(run.machine.stable, { "cpu.model": String(nth % 5), "cpu.model_name": `Model ${nth % 5}` });
  return [run, ...rest];
}

/** 40 rows: some of the example's again, with a parameter. */
function forty(records: Entry[]): Entry[] {
  const variants = records.filter((record) => record.t === "variant");
  const starts = records.filter((record) => record.t === "invocation");
  const more = variants
    .slice(0, 40 - variants.length)
    .map((variant, i) => ({ ...variant, index: variants.length + i, parameters: { copy: "1" } }));
  const again = starts
    .filter((start) => start.variant < more.length)
    .map((start) => ({ ...start, variant: start.variant + variants.length }));
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
  const start = records.find((record) => record.t === "invocation" && record.variant === variant.index);
  const ids = Array.from({ length: ROWS }, (_, i) => i);
  const plan = (i: number): object => ({ ...start.plan, parameters: { ...variant.parameters, p: `${HOSTILE}${i}` } });
  // One counts other units than its batches have, the next has no end.
  const judged = (i: number): object =>
    i % 4 === 1
      ? { plan: plan(i), evidence: { ...start.evidence, units: 1 } }
      : i % 4 === 3
        ? { plan: plan(i), end: null }
        : {};
  return [
    run,
    // A mechanism without a page is unobservable; one that has a page is judged.
    ...ids.map((i) => ({
      ...variant,
      index: i,
      mechanism: i % 2 ? variant.mechanism : `family${i % 50}/m${i}`,
      parameters: i % 2 ? { ...variant.parameters, p: `${HOSTILE}${i}` } : { p: `${HOSTILE}${i}` },
    })),
    ...ids.map((i) => ({
      ...start,
      variant: i,
      sequence: i,
      reason: { code: "unsupported", detail: HOSTILE },
      ...judged(i),
    })),
  ];
}

/** As export writes names that are free. */
const sorted = (object: object): object =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

/** A start of that variant with these samples, whose evidence, plan and host's view are as the judge asks: what contradicts itself has no figure. */
function honest(start: Entry, of: Entry, samples: Entry[]): Entry {
  const batches = samples.reduce((sum, part) => sum + part.ticks.length, 0);
  const footprint = of.experiment === "footprint";
  const units = samples.reduce((sum, part) => sum + part.units * part.ticks.length, 0);
  const claimed = footprint
    ? 0
    : samples.reduce((sum, part) => sum + part.ticks.reduce((a: number, b: number) => a + b, 0), 0);
  const [, a, b] = /^pair:(\d+)-(\d+)$/.exec(of.placement) ?? [];
  const cpus = a === undefined ? start.cpus : [...new Set([Number(a), Number(b)])];
  const tasks = of.mechanism.startsWith("thread/") ? of.contexts : 1;
  const switches = tasks > 1 ? units : 0;
  const turns = footprint
    ? { total: of.contexts, min: 1, max: 1, contexts: of.contexts }
    : { total: units, min: units / of.contexts, max: units / of.contexts, contexts: of.contexts };
  const hops = {
    count: units - 1,
    in_order: units - 1,
    same_cpu: cpus.length > 1 ? 0 : units - 1,
    same_thread: tasks > 1 ? 0 : units - 1,
    timed: true,
  };
  const tree = { ...start.seen.tree, tasks, most_tasks: tasks, allowed_cpus: cpus, ran_on: cpus };
  return {
    ...start,
    cpus,
    samples,
    plan: {
      ...start.plan,
      mechanism: of.mechanism,
      experiment: of.experiment,
      contexts: of.contexts,
      cpus,
      batch_units: samples[0].units,
      batches: footprint ? 1 : batches,
      warmup_batches: 0,
      parameters: of.parameters,
    },
    evidence: {
      ...start.evidence,
      units,
      token: footprint ? null : units,
      turns: of.mechanism.startsWith("control/") ? null : turns,
      cpus,
      hops: footprint ? null : hops,
      kernel: { ...start.evidence.kernel, voluntary: switches, involuntary: 0 },
      counts: sorted({
        ...start.evidence.counts,
        touches: units * Math.ceil(Number(of.parameters.working_set ?? 0) / 64),
        distinct_stacks: of.contexts,
        tasks_scheduled: tasks,
        cpu_time_ns: claimed,
      }),
    },
    seen: {
      ...start.seen,
      last_samples_ns: start.seen.last_samples_ns + claimed,
      voluntary: tree.switches + switches,
      cpu_ns: tree.cpu_ns + claimed,
      tree,
    },
    end: { ...start.end, samples: batches },
  };
}

/** Sweeps of costs that are known: of working set, of CPU pairs and of kept contexts. */
function sweeps(records: Entry[]): Entry[] {
  const [run] = structuredClone(records);
  const variant = records.find((record) => record.t === "variant" && record.mechanism === "stack/fcontext");
  const start = records.find((record) => record.t === "invocation" && record.variant === variant.index);
  run.id = "sweeps";
  const rounds = Array.from({ length: 8 }, (_, i) => i);
  // Whole ticks; no two rounds alike, so that a median of differences is not a difference of medians.
  const uneven = (round: number, nth: number): number => ((round * 37 + nth * 11) % 17) - 8;
  const time = (of: object, cost: number, noise: number) => (nth: number) => ({
    of: { ...variant, ...of },
    samples: (round: number) => [
      { phase: "measure", units: 100, quantity: null, ticks: Array(5).fill(cost * 100 + noise * uneven(round, nth)) },
    ],
  });
  const worked = (size: number) => ({ parameters: { ...variant.parameters, working_set: String(size) } });
  const touch = (size: number) => ({
    mechanism: "control/touch",
    contexts: 1,
    parameters: { working_set: String(size) },
  });
  const pair = (a: number, b: number) => ({ mechanism: "thread/futex", placement: `pair:${a}-${b}`, parameters: {} });
  const kept = (contexts: number) => (nth: number) => ({
    of: { ...variant, experiment: "footprint", contexts },
    samples: (round: number) =>
      ["resident_bytes", "kernel_bytes", "virtual_bytes"].map((quantity, i) => ({
        phase: "measure",
        units: contexts,
        quantity,
        ticks: [contexts * (4096 * (i + 1) + 64 * (10 + uneven(round * (i + 1), nth)))],
      })),
  });
  const rows = [
    // At 4 KiB noise only, at 16 KiB below 0, at 64 KiB the indirect cost.
    ...[
      [0, 100],
      [4096, 150],
      [16384, 230],
      [65536, 900],
    ].map(([size, cost]) => time(worked(size!), cost!, 30)),
    ...[
      [4096, 50],
      [16384, 200],
      [65536, 400],
    ].map(([size, cost]) => time(touch(size!), cost!, 30)),
    ...[
      [0, 0, 1000],
      [0, 1, 3000],
      [1, 1, 1100],
    ].map(([a, b, cost]) => time(pair(a!, b!), cost!, 200)),
    ...[10, 100, 1000].map(kept),
  ].map((row, nth) => row(nth));
  const starts = rounds.flatMap((round) =>
    rows.map(({ of, samples }, index) => ({
      ...honest(start, of, samples(round)),
      variant: index,
      round,
      sequence: round * rows.length + index,
    })),
  );
  return [run, ...rows.map(({ of }, index) => ({ ...of, index })), ...starts];
}

/** Rows that make an eighth as many curves and as many matrices, of numbers that nobody measures, under hostile names. */
function grid(records: Entry[]): Entry[] {
  const [run] = records;
  const variant = records.find((record) => record.t === "variant");
  const start = records.find((record) => record.t === "invocation" && record.evidence);
  const most = 9_007_199_254_740_991_000;
  const ids = Array.from({ length: ROWS }, (_, i) => i);
  const place = (i: number) =>
    i % 8 < 4
      ? { parameters: { p: HOSTILE, size: String((i % 4) * 4_503_599_627_370_496) } }
      : { parameters: { p: HOSTILE }, placement: `pair:0-${(i % 4) * 1_000_000_000}` };
  const ticks = (i: number) => [most, -most, 0, 1][Math.floor(i / 3) % 4];
  return [
    { ...run, id: "grid" },
    ...ids.map((i) => ({
      ...variant,
      index: i,
      mechanism: `family${Math.floor(i / 8) % 50}/m${Math.floor(i / 8)}`,
      ...place(i),
    })),
    ...ids.map((i) => ({
      ...start,
      variant: i,
      sequence: i,
      samples: [{ phase: "measure", units: i % 5 ? 1 : most, quantity: null, ticks: [ticks(i), ticks(i)] }],
    })),
  ];
}

/** An answer of `audit`, as far as the page draws it. */
const AUDIT = {
  program: "server",
  pid: 7,
  seconds: 4,
  sentence: "server loses 12 % of a CPU",
  share_of_a_cpu: { value: 0.12, low: 0.1, high: 0.15 },
  voluntary: 40000,
  involuntary: 12,
  kinds: [{ kind: "wake_idle", switches: 40000, cost_ns: 4.8e8, delay_each_us: 16 }],
  threads: [
    {
      name: "worker",
      thread: 7,
      voluntary: 40000,
      involuntary: 0,
      cpu_ns: 1.5e9,
      cost_ns: 4e8,
      cpus: [0, 1],
      waits_in: ["futex_wait"],
    },
  ],
  not_covered: ["caches"],
  notes: [],
};

/** The run files of each page. */
const PAGES: Record<string, () => string[]> = {
  ordinary: () => [EXAMPLE],
  rows: () => [kept("rows")],
  goroutines: () => ["goroutine-1", "goroutine-2", "goroutine-3"].map(kept),
  connections: () => ["million-memory", "million-native", "isolation-make", "isolation"].map(kept),
  several: () => [
    ...KEPT.map(kept),
    shown("million-native", kept("million-native")),
    runFile("swept", sweeps(example())),
    runFile("second", another(example(), 1)),
    EXAMPLE,
  ],
  two: () => {
    const [run, ...rest] = example();
    return [EXAMPLE, runFile("later", [{ ...run, id: "later" }, ...rest])];
  },
  // Other programs ran beside each start.
  busy: () => [
    runFile(
      "busy",
      example().map((record) =>
        record.t === "invocation"
          ? { ...record, disturbances: [{ kind: "foreign_cpu", ns: 400_000_000, of_ns: 800_000_000 }] }
          : record,
      ),
    ),
  ],
  // Neighbours without a row in common, and a machine that shares none with any.
  strangers: () => {
    const [run, ...rest] = example();
    return [EXAMPLE, runFile("second-ladder", [{ ...run, id: "second" }, ...rest]), kept("latency"), kept("fibers")];
  },
  latency: () => [kept("latency")],
  audited: () => {
    const audit = join(FOLDER, "audit.json");
    writeFileSync(audit, JSON.stringify(AUDIT));
    return [EXAMPLE, audit];
  },
  hostile: () => [
    runFile(
      "poisoned",
      example().map((record) => poison(record)),
    ),
    runFile("huge", huge(example())),
  ],
  waits: () => [shown("waits", WAITS)],
  sweeps: () => [shown("sweeps", runFile("sweeps", sweeps(example())))],
  grid: () => [runFile("grid", grid(example()))],
  thousands: () => [runFile("thousands", thousands(example()))],
  many: () => {
    const records = forty(example());
    return Array.from({ length: RUNS }, (_, i) => runFile(`many-${i}`, another(records, i)));
  },
};

setup.describe.configure({ mode: "parallel" });
for (const [name, files] of Object.entries(PAGES))
  setup(`the page ${name} is made`, () => {
    mkdirSync(FOLDER, { recursive: true });
    page(name, ...files());
  });
