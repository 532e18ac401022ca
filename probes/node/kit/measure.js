// Carries out a plan and reports everything but `hello`.
//
// A mechanism is { id, experiments, timings, parameters, setUp(plan) }; setUp does everything slow and gives a workload:
//
//   lap                     smallest number of units after which everything stands where it began
//   run(units)              the measured region: reads the clock, makes the switches, reads the clock; gives the ticks,
//                           or a promise of them. The clock is read there and not here, because a promise is delivered
//                           only after whatever else is ready has run
//   runEach(units, h)       the same, recording every unit in a histogram
//   reset()                 sets the count of turns to zero
//   claim()                 { turns, token, broken } since reset; broken: a context saw a token that it was not due; and
//                           counts: what else was counted, where it counts
//   neverIdle               true: the contexts go on and on, so that the event loop never comes round
//   verify(units, trace)    passes the token and records each visit; false where the experiment has no ring
//
// A mechanism without contexts has control: true. And, for experiment footprint, hold(plan, contexts): makes so many contexts, lets each run once and suspend, and gives
// { held, ran }, whatever keeps them alive and how many ran, or a promise of them. For experiment wakeup, sleep(ns): a promise that is kept after so long.
"use strict";

const v8 = require("v8");
const { now } = require("./clock");
const { Observation, Trace, addressSpaces } = require("./evidence");
const experiments = require("./experiments/list");
const { wrongRuntime } = require("./hello");
const { Histogram } = require("./histogram");
const machine = require("./machine");
const { Ruler, warmUp: warmUpRuler } = require("./ruler");
const { failed, refuse, unsupported } = require("./wire");

// V8 keeps integers of 31 bits in registers; a token beyond would become another kind of number in the middle of a run.
const MAX_TOKEN = 2 ** 30;

// How long a workload runs before the calibration, so that most of the compiling is over: it goes on in other threads, whose
// switches would be counted. The rest shows in the warm-up batches.
const SETTLE_NS = 100e6;

async function carryOut(writer, plan, mechanism) {
  checkPlacement(plan);
  const wrong = wrongRuntime();
  if (wrong) throw unsupported("unsupported_here", wrong);
  const { [plan.experiment]: experiment } = experiments;
  if (experiment) return experiment.carryOut(writer, plan, mechanism);
  const workload = mechanism.setUp(plan);
  await warmUp(plan, workload);
  const units = await calibrate(plan, workload);
  writer.sendPlan(plan, units);
  const currentCpu = machine.cpuReader();
  const seen = new Set();
  await workload.reset();
  if (global.gc) global.gc();
  const record = recordOf(plan);
  seen.add(currentCpu());
  const observation = new Observation(!workload.neverIdle);
  await batches(plan, workload, units, record);
  const observed = await observation.end();
  seen.add(currentCpu());
  const claim = await workload.claim();
  if (claim.broken) throw failed("self_check_failed", "a context received another token than the one it was due");

  const samples = report(writer, plan, units, record);
  const evidence = {
    t: "evidence",
    units: record.ticks.length * units,
    turns: claim.turns,
    token: claim.token,
    address_spaces: addressSpaces(claim.turns),
    ...observed,
    counts: { ...observed.counts, ...claim.counts },
  };
  if (evidence.address_spaces === null) evidence.why.address_spaces = "there are no contexts that count";
  await verify(plan, workload, evidence, seen);
  writer.send(evidence);
  writer.sendEnd(samples);
}

// Contexts of one thread cannot be pinned one by one, and pinning the process is the host's duty; a plan that says one CPU
// while the process may run on others would be believed.
function checkPlacement(plan) {
  if (plan.cpus.length > 1) {
    throw refuse("bad_value", "contexts of one thread cannot be pinned one by one; give one CPU or none in `cpus`");
  }
  const allowed = machine.allowedCpus();
  if (plan.cpus.length === 1 && allowed !== null && allowed !== String(plan.cpus[0])) {
    const [cpu] = plan.cpus;
    throw failed(
      "set_up_failed",
      `the plan says CPU ${cpu}, but the process is not restricted to it; start it with taskset -c ${cpu}`,
    );
  }
}

// Throws the answer to a ring for which there is no room, in the machine or in the heap that V8 allows itself.
function checkMemory(contexts, bytesEach, what) {
  const heap = v8.getHeapStatistics();
  const room = Math.min(machine.availableMemory(), heap.heap_size_limit - heap.used_heap_size);
  const needed = contexts * bytesEach;
  if (needed > room) {
    throw unsupported(
      "limit_reached",
      `${contexts} ${what} need about ${Math.ceil(needed / 2 ** 20)} MB and ${Math.floor(room / 2 ** 20)} MB are available; ask for fewer contexts`,
    );
  }
}

const histogramOf = (plan) => (plan.timing === "each" ? new Histogram() : null);

// Where the ticks go: made and touched before the batches.
const recordOf = (plan) => ({
  ticks: new Float64Array(plan.warmupBatches + plan.batches).fill(-1),
  ruler: plan.timing === "each" ? null : new Ruler(plan.warmupBatches + plan.batches),
  warmup: histogramOf(plan),
  measure: histogramOf(plan),
});

const batch = (workload, units, histogram) => (histogram ? workload.runEach(units, histogram) : workload.run(units));

const wholeLaps = (plan, { lap }) => Math.ceil(plan.batchUnits / lap) * lap || lap;

// So many units per batch at most, that the token of the whole run stays below MAX_TOKEN.
const mostUnits = (plan) => Math.floor(MAX_TOKEN / (plan.warmupBatches + plan.batches));

function checkToken(plan, units) {
  if (units > mostUnits(plan)) {
    throw unsupported(
      "limit_reached",
      "the plan comes to more than 2^30 switches, beyond which V8 changes the kind of number in the token; ask for fewer or shorter batches",
    );
  }
}

// Compiled code is many times quicker than what ran first, so the workload runs for a while before anything is timed.
async function warmUp(plan, workload) {
  warmUpRuler();
  const histogram = histogramOf(plan);
  let units = wholeLaps(plan, workload);
  checkToken(plan, units);
  for (let spent = 0; spent < SETTLE_NS;) {
    await workload.reset();
    const ticks = await batch(workload, units, histogram);
    spent += ticks;
    if (plan.batchUnits === 0 && ticks < plan.batchNs && 2 * units <= mostUnits(plan)) units *= 2;
  }
}

// Rounds what was asked up to whole laps, or doubles by the rule of PROTOCOL.md, section 1.
async function calibrate(plan, workload) {
  let units = wholeLaps(plan, workload);
  if (plan.batchUnits > 0) return units;
  const histogram = histogramOf(plan);
  for (let longEnough = 0; longEnough < 3;) {
    checkToken(plan, units);
    await workload.reset();
    if ((await batch(workload, units, histogram)) >= plan.batchNs) {
      longEnough++;
    } else {
      units *= 2;
      longEnough = 0;
    }
  }
  return units;
}

// The silence of PROTOCOL.md.
async function batches(plan, workload, units, record) {
  await phase(workload, units, record, 0, plan.warmupBatches, record.warmup);
  await phase(workload, units, record, plan.warmupBatches, record.ticks.length, record.measure);
  if (record.ruler) record.ruler.read(record.ticks.length);
}

async function phase(workload, units, { ticks, ruler }, begin, end, histogram) {
  const clock = now();
  for (let i = begin; i < end; i++) {
    if (ruler) ruler.read(i);
    ticks[i] = await batch(workload, units, histogram);
  }
  if (histogram) histogram.spanClock = histogram.spanCounter = now() - clock; // Clock and counter are the same here.
}

function report(writer, plan, units, record) {
  if (plan.timing === "each") {
    const seq = writer.sendHistogram(0, "warmup", record.warmup);
    writer.sendHistogram(seq, "measure", record.measure);
    return record.warmup.count + record.measure.count;
  }
  const { ticks, ruler } = record;
  const warmup = plan.warmupBatches;
  const seq = writer.sendSamples(0, "warmup", units, ticks.subarray(0, warmup), ruler.beside(0, warmup));
  writer.sendSamples(seq, "measure", units, ticks.subarray(warmup), ruler.beside(warmup, ticks.length));
  return ticks.length;
}

async function verify(plan, workload, evidence, seen) {
  if (plan.verifyUnits > 0) {
    const trace = new Trace(Math.ceil(plan.verifyUnits / workload.lap) * workload.lap);
    if (await workload.verify(trace.who.length - 1, trace)) {
      Object.assign(evidence, trace.judge(plan.contexts));
      if (evidence.hops.same_thread === undefined) {
        evidence.why.hops_same_thread =
          "the number of a thread can be read from /proc only, which this system does not have";
      }
      trace.cpu.forEach((cpu) => seen.add(cpu));
    }
  }
  evidence.cpus = [...seen].sort((a, b) => a - b);
  if (seen.has(-1)) {
    for (const name of ["cpus", "hops", "migrations"]) {
      evidence[name] = null;
      evidence.why[name] = "the CPU of a thread can be read from /proc only, which this system does not have";
    }
  }
}

module.exports = { calibrate, carryOut, checkMemory };
