// Experiment footprint: memory of live, suspended contexts, by the kernel's figures. Nothing is timed, the ticks are bytes.
"use strict";

const v8 = require("v8");
const { addressSpaces } = require("../evidence");
const machine = require("../machine");
const { TICKS_PER_LINE, failed, unsupported } = require("../wire");

// Name of each quantity and its field in what machine.memory() gives.
const QUANTITIES = [
  ["resident_bytes", "resident"],
  ["virtual_bytes", "mapped"],
  ["kernel_bytes", "kernel"],
];

// So many contexts at most are made first and kept, so that the pages of code are there and what start-up left free is used up.
const REHEARSED = 1000;

// Collections before a reading, at most, and the change that is none.
const MOST_COLLECTIONS = 20;
const STEADY_BYTES = 32768;

// Reports everything but `hello`. Contexts of earlier cycles stay alive, so that none is made of what another left.
async function carryOut(writer, plan, mechanism) {
  const cycles = plan.warmupBatches + plan.batches;
  check();
  writer.sendPlan(plan, plan.contexts);
  keepYoungGeneration();
  const alive = [await mechanism.hold(plan, Math.min(plan.contexts, REHEARSED))];
  const gains = [];
  let entered = 0;
  for (let i = 0; i < cycles; i++) {
    const before = await collected();
    const { held, ran } = await mechanism.hold(plan, plan.contexts);
    alive.push(held);
    entered += ran;
    gains.push(grown(before, await collected()));
  }
  const units = cycles * plan.contexts;
  if (entered !== units)
    throw failed("self_check_failed", `only ${entered} of ${units} contexts ran before they were suspended`);
  const seq = sendGains(writer, 0, "warmup", plan.contexts, gains.slice(0, plan.warmupBatches));
  sendGains(writer, seq, "measure", plan.contexts, gains.slice(plan.warmupBatches));
  writer.send({ t: "note", text: "kernel_bytes is the change of this process's page tables (VmPTE)" });
  const turns = { total: entered, min: 1, max: 1, contexts: units };
  writer.send({
    t: "evidence",
    units,
    turns,
    token: null,
    kernel: null,
    address_spaces: addressSpaces(turns),
    why: { token: "no token is passed in this experiment" },
  });
  writer.sendEnd(cycles * QUANTITIES.length);
}

function check() {
  if (machine.memory() === null) {
    throw unsupported(
      "unsupported_here",
      "memory in use cannot be read on this system: /proc/self/smaps_rollup is missing",
    );
  }
  if (!global.gc)
    throw failed("set_up_failed", "the collector cannot be called; start the probe with node --expose-gc");
}

// V8 makes the young generation larger as more survives in it, which would be counted as the contexts'.
const keepYoungGeneration = () => v8.setFlagsFromString("--semi-space-growth-factor=1");

// Memory once all that can be freed is freed and given back, which threads of V8 do some time later: when a collection no longer
// changes it. What survives two of them is in the old generation, so that the young one is as empty at one reading as at the other.
async function collected() {
  let memory = null;
  for (let steady = 0, round = 0; steady < 2 && round < MOST_COLLECTIONS; round++) {
    global.gc({ type: "major", execution: "sync", flavor: "last-resort" });
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
    const now = machine.memory();
    steady = memory !== null && Math.abs(now.resident - memory.resident) < STEADY_BYTES ? steady + 1 : 0;
    memory = now;
  }
  return memory;
}

const grown = (before, after) =>
  Object.fromEntries(QUANTITIES.map(([, field]) => [field, after[field] - before[field]]));

function sendGains(writer, seq, phase, contexts, gains) {
  for (const [quantity, field] of QUANTITIES) {
    for (let begin = 0; begin < gains.length; begin += TICKS_PER_LINE) {
      const ticks = gains.slice(begin, begin + TICKS_PER_LINE).map((gain) => gain[field]);
      writer.send({ t: "samples", seq: seq++, phase, units: contexts, quantity, ticks });
    }
  }
  return seq;
}

module.exports = { carryOut };
