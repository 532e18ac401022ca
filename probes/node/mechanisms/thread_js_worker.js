// thread/js-worker: the main thread and workers hand a token round. The main thread is context 0.
//
// `handover` says by what: a word of shared memory for each, by Atomics.wait and Atomics.notify, or postMessage through a
// MessageChannel between neighbours. Turns, visits and intervals of the workers lie in shared memory.
"use strict";

const path = require("path");
const { MessageChannel, Worker } = require("worker_threads");
const clock = require("../kit/clock");
const engine = require("../kit/engine");
const { Turns } = require("../kit/evidence");
const machine = require("../kit/machine");
const { failed, unsupported } = require("../kit/wire");
const { boxesFor, place } = require("./place");
const { PUBLISH, Ring, VERIFY } = require("../kit/ring");

const { now } = clock;
const FILE = path.join(__dirname, "worker.js");

// A thread with a V8 of its own (observed with Node.js 20).
const EACH = { bytes: 8 << 20, mappings: 34 };

function checkRoom(contexts) {
  const [bytes, mappings] = [machine.availableMemory() / EACH.bytes, machine.availableMappings() / EACH.mappings];
  const most = Math.floor(Math.min(bytes, mappings));
  if (contexts > most) {
    throw unsupported("limit_reached", `memory or vm.max_map_count has room for ${most} more workers; ask for fewer`);
  }
}

const words = (count) => new Int32Array(new SharedArrayBuffer(4 * count)).fill(-1);

// A worker, and a promise that it has begun.
function started(workerData, transferList) {
  const worker = new Worker(FILE, { workerData, transferList });
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once("message", () => resolve(worker));
    worker.once("error", (error) => reject(failed("set_up_failed", `a worker did not begin: ${error}`)));
  });
}

// All that does not depend on how the token is handed over.
class WorkerRing extends Ring {
  constructor(plan) {
    super(plan.contexts);
    checkRoom(plan.contexts);
    const visits = Math.ceil(plan.verifyUnits / this.lap) * this.lap + 1;
    this.shared = {
      lap: this.lap,
      each: plan.timing === "each",
      epoch: clock.epoch,
      boxes: boxesFor(this.lap),
      flags: words(this.lap), // Turns of each worker; of the first: whether one was broken.
      times: new Float64Array(new SharedArrayBuffer(8 * this.lap)), // Intervals; of the first: when the token left.
      visits: { who: words(visits), cpu: words(visits), thread: words(visits) },
    };
    this.ready = Promise.all(
      this.links().map((link, i) => started({ ...this.shared, index: i + 1, ...link }, Object.values(link))),
    );
  }

  async reset() {
    await this.ready;
    await super.reset();
  }

  async claim() {
    await this.round(PUBLISH);
    const turns = new Turns();
    turns.count(this.sequence / this.lap);
    for (let i = 1; i < this.lap; i++) turns.count(Atomics.load(this.shared.flags, i));
    return { turns, token: this.sequence, broken: this.broken || Atomics.load(this.shared.flags, 0) === 1 };
  }

  // After a lap of timing=each: the intervals that the workers found.
  record(histogram) {
    for (let i = 1; i < this.lap; i++) histogram.arrive(this.shared.times[i]);
  }

  async verify(units, trace) {
    const { who, cpu, thread } = this.shared.visits;
    trace.visit(0, 0);
    let token = VERIFY - 1;
    for (let sequence = this.lap; sequence <= units; sequence += this.lap) {
      token = await this.round(token);
      trace.visit(VERIFY - token, 0);
      token--;
    }
    for (let i = 0; i < trace.who.length; i++) {
      if (who[i] < 0) continue;
      trace.who[i] = who[i];
      trace.cpu[i] = cpu[i];
      trace.thread[i] = thread[i];
    }
    return true;
  }
}

class AtomicsRing extends WorkerRing {
  constructor(plan) {
    super(plan);
    this.mine = place(this.shared.boxes, 0);
    this.next = place(this.shared.boxes, 1);
  }

  links() {
    return new Array(this.lap - 1).fill({});
  }

  run(units) {
    const { lap, mine, next } = this;
    let { sequence } = this;
    let broken = false;
    const begin = now();
    for (let laps = units / lap; laps > 0; laps--) {
      next.put((sequence + 1) | 0);
      sequence = (sequence + lap) | 0;
      if (mine.take() !== sequence) broken = true;
    }
    const ticks = now() - begin;
    this.sequence = sequence;
    if (broken) this.broken = true;
    return ticks;
  }

  runEach(units, histogram) {
    const { times } = this.shared;
    const begin = now();
    for (let laps = units / this.lap; laps > 0; laps--) {
      times[0] = now();
      this.next.put((this.sequence + 1) | 0);
      const token = this.mine.take();
      histogram.arrive(now() - times[0]);
      this.record(histogram);
      this.sequence = (this.sequence + this.lap) | 0;
      if (token !== this.sequence) this.broken = true;
    }
    return now() - begin;
  }

  round(token) {
    this.next.put(token);
    return this.mine.take();
  }
}

class MessageRing extends WorkerRing {
  // Channel i leads to context i.
  links() {
    const channels = Array.from({ length: this.lap }, () => new MessageChannel());
    this.from = channels[0].port2;
    this.to = channels[1].port1;
    this.from.on("message", (token) => this.arrived(token));
    return channels.slice(1).map(({ port2 }, i) => ({ from: port2, to: channels[(i + 2) % this.lap].port1 }));
  }

  round(token) {
    return new Promise((resolve) => {
      this.arrived = resolve;
      this.to.postMessage(token);
    });
  }

  run(units) {
    const { lap, to } = this;
    let { sequence } = this;
    let laps = units / lap;
    return new Promise((resolve) => {
      const begin = now();
      this.arrived = (token) => {
        sequence = (sequence + lap) | 0;
        if (token !== sequence) this.broken = true;
        if (--laps > 0) {
          to.postMessage((sequence + 1) | 0);
          return;
        }
        const ticks = now() - begin;
        this.sequence = sequence;
        resolve(ticks);
      };
      to.postMessage((sequence + 1) | 0);
    });
  }

  runEach(units, histogram) {
    const { times } = this.shared;
    let laps = units / this.lap;
    const send = () => {
      times[0] = now();
      this.to.postMessage((this.sequence + 1) | 0);
    };
    return new Promise((resolve) => {
      const begin = now();
      this.arrived = (token) => {
        histogram.arrive(now() - times[0]);
        this.record(histogram);
        this.sequence = (this.sequence + this.lap) | 0;
        if (token !== this.sequence) this.broken = true;
        if (--laps > 0) send();
        else resolve(now() - begin);
      };
      send();
    });
  }
}

// A worker is made, counts itself, and ends.
class WorkerCreation {
  constructor() {
    this.lap = 1;
    this.workerData = { ran: words(1).fill(0), stays: false };
  }

  one() {
    return new Promise((resolve, reject) => {
      const worker = new Worker(FILE, { workerData: this.workerData });
      worker.once("exit", resolve);
      worker.once("error", reject);
    });
  }

  async run(units) {
    const begin = now();
    for (let left = units; left > 0; left--) await this.one();
    return now() - begin;
  }

  async runEach(units, histogram) {
    const begin = now();
    for (let left = units; left > 0; left--) {
      const made = now();
      await this.one();
      histogram.arrive(now() - made);
    }
    return now() - begin;
  }

  reset() {
    Atomics.store(this.workerData.ran, 0, 0);
  }

  claim() {
    const ran = Atomics.load(this.workerData.ran, 0);
    return { turns: Turns.onceEach(ran), token: ran, broken: false };
  }

  verify() {
    return false;
  }
}

const RINGS = { atomics: AtomicsRing, message: MessageRing };

module.exports = {
  id: "thread/js-worker",
  experiments: ["switch", "create", "footprint"],
  timings: engine.timings,
  parameters: [{ name: "handover", words: Object.keys(RINGS) }],
  setUp(plan) {
    return plan.experiment === "create" ? new WorkerCreation() : new RINGS[plan.parameters.handover](plan);
  },
  // Workers, each waiting for a word of shared memory that nobody changes.
  async hold(plan, contexts) {
    checkRoom(contexts);
    const ran = words(2).fill(0);
    const held = await Promise.all(Array.from({ length: contexts }, () => started({ ran, stays: true })));
    return { held, ran: Atomics.load(ran, 0) };
  },
};
