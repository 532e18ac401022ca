// Experiment wakeup: an async function waits for times that are fixed beforehand, one a period, and says of each how much later it ran.
"use strict";

const { now } = require("../clock");
const { Observation, Turns, addressSpaces } = require("../evidence");
const { Histogram } = require("../histogram");
const machine = require("../machine");

// µs between two intended times.
const PERIOD = { name: "period" };

// The times do not move when it was late: what one wake-up found due is counted from its own time, each.
class Waiter {
  // sleep(ns) gives a promise that is kept after so long.
  constructor(sleep, period, clock = now) {
    this.sleep = sleep;
    this.period = period;
    this.clock = clock;
    this.last = clock(); // When it was read last that a time had come; at first one period before the first.
    this.first = this.last + period;
    this.served = 0; // Times so far; the number of the next one.
    this.ofThisWake = 0;
    this.several = 0; // Wake-ups that found more than one time due.
  }

  async serve(units, histogram) {
    for (const end = this.served + units; this.served !== end;) {
      const read = this.clock();
      const late = read - (this.first + this.served * this.period);
      if (late >= 0) {
        histogram.record(late);
        this.last = read;
        this.served++;
        this.ofThisWake++;
        continue;
      }
      if (this.ofThisWake > 1) this.several++;
      this.ofThisWake = 0;
      await this.sleep(-late);
    }
  }
}

// Reports everything but `hello`.
async function carryOut(writer, plan, mechanism) {
  const period = Number(plan.parameters[PERIOD.name]) * 1000;
  const units = plan.batchUnits || Math.max(1, Math.ceil(plan.batchNs / period));
  const warmup = new Histogram();
  const measure = new Histogram();
  const cpus = new Set();
  const currentCpu = machine.cpuReader();
  if (global.gc) global.gc();
  const observation = new Observation(true);
  // The times are fixed before hogs are let loose, which keep this function from the CPU as well.
  const waiter = new Waiter(mechanism.sleep, period);
  writer.sendPlan(plan, units);
  const phase = async (batches, histogram) => {
    const start = waiter.last;
    for (let i = 0; i < batches; i++) {
      await waiter.serve(units, histogram);
      cpus.add(currentCpu());
    }
    histogram.spanClock = waiter.last - start;
  };
  await phase(plan.warmupBatches, warmup);
  await phase(plan.batches, measure);
  const observed = await observation.end();
  writer.sendHistogram(writer.sendHistogram(0, "warmup", warmup), "measure", measure);
  writer.send(evidenceOf(waiter, observed, cpus));
  writer.sendEnd(warmup.count + measure.count);
}

function evidenceOf(waiter, observed, cpus) {
  const turns = new Turns();
  turns.count(waiter.served);
  observed.counts.wakes_for_several = waiter.several;
  const known = !cpus.has(-1);
  if (!known) observed.why.cpus = "the CPU of a thread can be read from /proc only, which this system does not have";
  return {
    t: "evidence",
    units: waiter.served,
    turns,
    token: waiter.served,
    address_spaces: addressSpaces(turns),
    cpus: known ? [...cpus].sort((a, b) => a - b) : null,
    ...observed,
  };
}

module.exports = { PERIOD, Waiter, carryOut };
