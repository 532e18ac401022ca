// executor/js-message: tasks are handed to worker threads by postMessage, in turns where there are several. The main thread is
// outside: it sleeps in Atomics.wait until the last task of a lot, which has as many as there are contexts, runs.
"use strict";

const path = require("path");
const { Worker } = require("worker_threads");
const clock = require("../kit/clock");
const { Turns } = require("../kit/evidence");
const { failed, unsupported } = require("../kit/wire");

const { now } = clock;
const FILE = path.join(__dirname, "executor_js_serve.js");

// Words of shared memory: tasks of the lot that have not run yet; tasks that have run; 1 once the last of a lot has.
const AT_WORK = 0;
const RUN = 1;
const DONE = 2;

const APART = "the clock of this engine begins anew in each thread, so that no time spans two";

class Submission {
  constructor(plan) {
    this.lap = 1;
    this.contexts = plan.contexts;
    this.words = new Int32Array(new SharedArrayBuffer(12));
    this.turns = new Int32Array(new SharedArrayBuffer(4 * plan.contexts));
    this.ran = new Float64Array(new SharedArrayBuffer(8));
    const workerData = { words: this.words, turns: this.turns, ran: this.ran, epoch: clock.epoch };
    const number = Number(plan.parameters.workers);
    this.ready = Promise.all(Array.from({ length: number }, () => this.start(workerData))).then((workers) => {
      this.workers = workers;
      const begin = now();
      const took = this.run(1);
      if (took < 0 || took > now() - begin) throw unsupported("unsupported_here", APART);
    });
  }

  start(workerData) {
    const worker = new Worker(FILE, { workerData });
    worker.unref();
    return new Promise((resolve, reject) => {
      worker.once("message", () => resolve(worker));
      worker.once("error", (error) => reject(failed("set_up_failed", `a worker did not begin: ${error}`)));
    });
  }

  async reset() {
    await this.ready;
    this.words[RUN] = 0;
    this.turns.fill(0);
  }

  run(units) {
    const { contexts, words, workers, ran } = this;
    let next = 0;
    let took = 0;
    for (let left = units; left > 0;) {
      const lot = Math.min(left, contexts);
      left -= lot;
      const begin = now();
      Atomics.store(words, AT_WORK, lot);
      for (let task = 0; task < lot; task++) workers[next++ % workers.length].postMessage(task);
      while (Atomics.exchange(words, DONE, 0) === 0) Atomics.wait(words, DONE, 0);
      took += ran[0] - begin;
    }
    return took;
  }

  claim() {
    const turns = new Turns();
    this.turns.forEach((count) => turns.count(count));
    return { turns, token: Atomics.load(this.words, RUN), broken: false };
  }

  verify() {
    return false;
  }
}

module.exports = {
  id: "executor/js-message",
  experiments: ["submit"],
  timings: ["batch"],
  parameters: [{ name: "workers" }],
  setUp: (plan) => new Submission(plan),
};
