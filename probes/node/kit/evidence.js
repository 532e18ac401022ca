// What shows that the units claimed did happen.
"use strict";

const { PerformanceObserver } = require("perf_hooks");
const engine = require("./engine");
const machine = require("./machine");

// What can be read from outside the contexts. CPU time is read last before the batches and first after them: to read what
// the kernel counts of each thread takes longer than the batches, and switches no thread.
//
// Collections are told by a PerformanceObserver, later, when the event loop comes round. v8.GCProfiler could say at once how many there
// were, but it looks at the whole heap before and after each, and generators make garbage for several a millisecond.
class Observation {
  // `idles` is false where the contexts never let the event loop come round.
  constructor(idles) {
    this.collections = 0;
    this.told = engine.tellsCollections;
    this.observer = idles && this.told ? new PerformanceObserver((list) => this.count(list.getEntries())) : null;
    if (this.observer) this.observer.observe({ entryTypes: ["gc"] });
    this.usage = process.resourceUsage();
    this.tasks = machine.taskSwitches();
    this.cpu = process.cpuUsage();
  }

  // The fields of the evidence message that concern the time since.
  async end() {
    const cpu = process.cpuUsage(this.cpu);
    const tasks = machine.taskSwitches();
    const usage = process.resourceUsage();
    const why = {};
    await this.finishCounting(why);
    const fields = {
      kernel: this.kernel(tasks, why),
      page_faults: {
        minor: usage.minorPageFault - this.usage.minorPageFault,
        major: usage.majorPageFault - this.usage.majorPageFault,
      },
      gc_cycles: this.observer ? this.collections : null,
      counts: { cpu_time_ns: (cpu.user + cpu.system) * 1000 },
      why,
    };
    return fields;
  }

  count(entries) {
    this.collections += entries.length;
  }

  // An entry goes through the event loop twice: from the collector to the observers' queues, and from there to the observer.
  async finishCounting(why) {
    if (!this.observer) {
      why.gc_cycles = this.told
        ? "the contexts never let the event loop come round, which tells of collections"
        : "this engine does not tell of collections";
      return;
    }
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    this.count(this.observer.takeRecords());
    this.observer.disconnect();
  }

  kernel(tasks, why) {
    if (this.tasks === null || tasks === null) {
      why.kernel = "the kernel's counts of each thread cannot be read on this system";
      return null;
    }
    for (const id of this.tasks.keys()) {
      if (!tasks.has(id)) {
        why.kernel = "a thread of the runtime ended during the batches and took its counts with it";
        return null;
      }
    }
    const sum = { voluntary: 0, involuntary: 0, tasks: tasks.size, source: "proc_task_status" };
    const none = { voluntary: 0, involuntary: 0 };
    for (const [id, end] of tasks) {
      const begin = this.tasks.get(id) || none; // A thread that began in between counts from zero.
      sum.voluntary += end.voluntary - begin.voluntary;
      sum.involuntary += end.involuntary - begin.involuntary;
    }
    return sum;
  }
}

// What the contexts counted themselves.
class Turns {
  constructor() {
    this.total = 0;
    this.min = 0;
    this.max = 0;
    this.contexts = 0;
  }

  // Adds one context's turns.
  count(turns) {
    this.min = this.contexts === 0 ? turns : Math.min(this.min, turns);
    this.max = Math.max(this.max, turns);
    this.total += turns;
    this.contexts++;
  }

  // Of contexts that are entered once and end.
  static onceEach(created) {
    return Object.assign(new Turns(), { total: created, min: 1, max: 1, contexts: created });
  }
}

// One, where contexts have counted their turns into this process's own memory: nothing of another address space can reach it.
const addressSpaces = (turns) => (turns && turns.contexts > 0 ? 1 : null);

// The record of the verification pass: who had the token, on which CPU and thread, indexed by the token's sequence number.
class Trace {
  constructor(units) {
    this.who = new Int32Array(units + 1).fill(-1);
    this.cpu = new Int32Array(units + 1).fill(-1);
    this.thread = new Int32Array(units + 1).fill(-1);
    this.currentCpu = machine.cpuReader();
    this.currentThread = machine.threadReader();
  }

  // Called by a context that came to run with the token.
  visit(sequence, context) {
    if (sequence >= 0 && sequence < this.who.length) {
      this.who[sequence] = context;
      this.cpu[sequence] = this.currentCpu();
      this.thread[sequence] = this.currentThread();
    }
  }

  // Compares every hop with the one before it.
  judge(contexts) {
    // The pass comes after the timed batches, by the same contexts.
    const hops = { count: this.who.length - 1, in_order: 0, same_cpu: 0, same_thread: 0, timed: false };
    let migrations = 0;
    const last = new Map();
    for (let i = 0; i < this.who.length; i++) {
      if (last.has(this.who[i]) && last.get(this.who[i]) !== this.cpu[i]) migrations++;
      last.set(this.who[i], this.cpu[i]);
      if (i === 0) continue;
      if (this.who[i] === (this.who[i - 1] + 1) % contexts) hops.in_order++;
      if (this.cpu[i] === this.cpu[i - 1]) hops.same_cpu++;
      if (this.thread[i] === this.thread[i - 1]) hops.same_thread++;
    }
    if (this.thread.includes(-1)) delete hops.same_thread;
    return { hops, migrations };
  }
}

module.exports = { Observation, Trace, Turns, addressSpaces };
