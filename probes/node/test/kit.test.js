// The kit: messages, histogram, trace, calibration.
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const test = require("node:test");
const v8 = require("v8");
const vm = require("vm");
const engine = require("../kit/engine");
const { Observation, Trace, Turns } = require("../kit/evidence");
const { Waiter } = require("../kit/experiments/wakeup");
const heapOffset = require("../kit/heap_offset");
const { Histogram, bucketOf, lowerEdge } = require("../kit/histogram");
const { calibrate } = require("../kit/measure");
const { parsePlan } = require("../kit/plan");
const { Ruler } = require("../kit/ruler");
const { Writer, encode } = require("../kit/wire");
const { list } = require("../mechanisms/list");

const ROOT = path.join(__dirname, "..", "..", "..");
test("buckets keep their promise", () => {
  for (let i = 0; i < 100000; i++) {
    const value = Math.floor((Number.MAX_SAFE_INTEGER * Math.random()) / 2 ** Math.floor(53 * Math.random()));
    const bucket = bucketOf(value);
    const edge = lowerEdge(bucket);
    assert(
      edge <= value && bucketOf(edge) === bucket && (edge === 0 || bucketOf(edge - 1) === bucket - 1),
      `${value}: ${bucket} ${edge}`,
    );
    assert(value - edge <= Math.floor(edge / 128), `${value} ${edge}`);
    assert(value >= 128 || value === edge);
  }
  assert(bucketOf(Number.MAX_SAFE_INTEGER) < new Histogram().counts.length);
});

test("a trace counts hops", () => {
  const trace = new Trace(4);
  trace.who.set([0, 1, 2, 0, 2]);
  trace.cpu.set([0, 0, 1, 1, 1]);
  trace.thread.set([7, 8, 8, 7, 9]);
  assert.deepStrictEqual(trace.judge(3), {
    hops: { count: 4, in_order: 3, same_cpu: 3, same_thread: 1, timed: false },
    migrations: 1,
  });
  trace.thread[2] = -1;
  assert(!("same_thread" in trace.judge(3).hops));
  const turns = new Turns();
  turns.count(4);
  turns.count(3);
  assert.deepStrictEqual({ ...turns }, { total: 7, min: 3, max: 4, contexts: 2 });
});

test("of two readings the slower is told", () => {
  const ruler = new Ruler(3);
  ruler.read(3);
  assert(ruler.ticks[3] > 0);
  ruler.ticks.set([5, 7, 6, 9]);
  assert.deepStrictEqual([...ruler.beside(0, 1), ...ruler.beside(1, 3)], [7, 7, 9]);
});

// A wake-up 3.5 periods late serves four times, each late by another length; the next times stay where they were.
test("latencies count from the intended times", async () => {
  let time = 1000;
  const oversleeps = [0, 350, 20, 0];
  const slept = [];
  const sleep = (length) => {
    time += length + oversleeps[slept.length];
    slept.push(length);
  };
  const waiter = new Waiter(sleep, 100, () => time);
  const histogram = new Histogram();
  await waiter.serve(2, histogram); // The second batch goes on where the first one ended, in the middle of a wake-up.
  await waiter.serve(5, histogram);
  assert.deepStrictEqual([slept, time], [[100, 100, 50, 80], 1700]);
  assert.deepStrictEqual([histogram.count, histogram.sum, histogram.max], [7, 350 + 250 + 150 + 50 + 20, 350]);
  assert.deepStrictEqual([waiter.served, waiter.several], [7, 1]);
});

// Batches that last as long as a list says.
async function calibrated(ticks, batchUnits = 0) {
  const lengths = [];
  const workload = { lap: 3, reset() {}, run: (units) => ticks[lengths.push(units) - 1] };
  const plan = { timing: "batch", batchUnits, batchNs: 100, batches: 30, warmupBatches: 5 };
  return [await calibrate(plan, workload), lengths];
}

test("three batches in a row fix k, and the first counts", async () => {
  assert.deepStrictEqual(await calibrated([100, 100, 100]), [3, [3, 3, 3]]);
  assert.deepStrictEqual(await calibrated([99, 100000, 99, 100, 100, 100]), [12, [3, 6, 6, 12, 12, 12]]);
  assert.deepStrictEqual(await calibrated([], 7), [9, []]);
});

test("lines are ASCII and short enough", () => {
  const line = encode({ t: "note", text: "µ <é> 😀" });
  assert.match(line, /^[\x20-\x7e]*\n$/);
  assert.strictEqual(JSON.parse(line).text, "µ <é> 😀");
  const lines = [];
  const writer = Object.assign(Object.create(Writer.prototype), { send: (message) => lines.push(encode(message)) });
  const histogram = new Histogram();
  histogram.counts.fill(Number.MAX_SAFE_INTEGER);
  const ticks = new Float64Array(10000).fill(Number.MAX_SAFE_INTEGER);
  writer.sendHistogram(writer.sendSamples(0, "measure", 1, ticks, ticks), "measure", histogram);
  assert(lines.length > 5 && lines.every((text) => text.length < 65536));
});

test("the list is sorted and described", () => {
  const ids = list.map(({ id }) => id);
  assert.deepStrictEqual(ids, [...ids].sort());
  const words = (array) => `[${array.map((word) => JSON.stringify(word)).join(", ")}]`;
  for (const { id, experiments, parameters } of list) {
    const text = fs.readFileSync(path.join(ROOT, "mechanisms", `${id}.toml`), "utf8");
    assert(text.includes(`\nexperiments = ${words(experiments)}\n`), id);
    const common = (/^common = (.*)$/m.exec(text) || ["", ""])[1];
    for (const parameter of parameters.filter(({ name }) => !common.includes(`"${name}"`))) {
      assert(text.includes(`[parameters.${parameter.name}]\nvalues = ${words(parameter.words)}\n`), id);
    }
  }
});

test("blocks are drawn from the seed, or none is taken", () => {
  const usual =
    "protocol=1 mechanism=coroutine/js-generator contexts=2 timing=batch cpus= batch_units=0 batch_ns=1000000 batches=30 " +
    "warmup_batches=5 verify_units=1000 depth=0 frames=held";
  const taken = (words) => heapOffset.take(parsePlan(`${usual} ${words}`.split(" "), list).plan);
  const one = taken("experiment=switch heap_offset=drawn seed=1");
  assert(one.length > 100);
  assert.deepStrictEqual(taken("experiment=switch heap_offset=drawn seed=1"), one);
  assert.notDeepStrictEqual(taken("experiment=switch heap_offset=drawn seed=2"), one);
  assert.deepStrictEqual(taken("experiment=switch heap_offset=fixed seed=1"), []);
});

test("every collection is counted, and where nobody can tell there is a reason", async () => {
  if (engine.tellsCollections) {
    v8.setFlagsFromString("--expose-gc");
    const collect = vm.runInNewContext("gc");
    collect(); // Before, so not counted.
    const observation = new Observation(true);
    for (let i = 0; i < 3; i++) collect();
    assert.strictEqual((await observation.end()).gc_cycles, 3);
  }
  const blind = await new Observation(false).end();
  assert(blind.gc_cycles === null && blind.why.gc_cycles.length > 10);
});
