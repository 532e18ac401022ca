// fiber/js-await: async functions hand a token round through the queue of microtasks. The driver is context 0.
//
// `handover` says by what: a promise that the next function awaits and this one resolves, or `await undefined`, where all
// functions stay ready, the queue takes them in turn, and the token lies in a shared variable.
"use strict";

const { now } = require("../kit/clock");
const engine = require("../kit/engine");
const heapOffset = require("../kit/heap_offset");
const { checkMemory } = require("../kit/measure");
const { unsupported } = require("../kit/wire");
const { IDLE, Ring, VERIFY } = require("../kit/ring");
const depth = require("./depth");

// An async function that is suspended, with its promise and closures (observed with Node.js 20).
const BYTES_EACH = { promise: 700, yield: 400 };

// One that awaits another.
const BYTES_A_CALL = 400;

// Its loops are written out for each kind of handing over: a call at every switch would be part of its price.
class AwaitRing extends Ring {
  constructor(contexts) {
    super(contexts);
    this.driverIsContext = true;
  }

  start(each) {
    for (let i = 1; i < this.lap; i++)
      if (each) this.memberEach(i);
      else this.member(i);
  }

  async verify(units, trace) {
    this.trace = trace;
    trace.visit(0, 0);
    let token = VERIFY - 1;
    for (let laps = units / this.lap; laps > 0; laps--) token = this.obey(0, 0, await this.round(token));
    return true;
  }
}

// A context makes the promise that it will await before it hands over: whoever comes next finds how to resolve it.
class PromiseRing extends AwaitRing {
  constructor(contexts, each, calls = null) {
    super(contexts);
    this.calls = calls;
    this.resolvers = new Array(contexts).fill(null);
    this.arm = (resolve) => {
      this.resolvers[0] = resolve;
    };
    this.inbox = new Promise(this.arm);
    this.start(each);
  }

  async member(index) {
    const { lap, resolvers } = this;
    const following = (index + 1) % lap;
    const arm = (resolve) => {
      resolvers[index] = resolve;
    };
    let inbox = new Promise(arm);
    let due = index;
    for (;;) {
      let token = await inbox;
      inbox = new Promise(arm);
      if (token === due) {
        due = (due + lap) | 0;
        token = (token + 1) | 0;
      } else {
        token = this.obey(index, due, token);
        due = this.due;
      }
      resolvers[following](token);
    }
  }

  async memberEach(index) {
    const { lap, resolvers } = this;
    const following = (index + 1) % lap;
    const arm = (resolve) => {
      resolvers[index] = resolve;
    };
    let inbox = new Promise(arm);
    let due = index;
    for (;;) {
      let token = await inbox;
      const arrived = now();
      if (token === due) {
        this.histogram.arrive(arrived - this.stamp);
        due = (due + lap) | 0;
        token = (token + 1) | 0;
      } else {
        token = this.obey(index, due, token);
        due = this.due;
      }
      this.stamp = now();
      inbox = new Promise(arm);
      resolvers[following](token);
    }
  }

  async run(units) {
    const { arm, lap, resolvers } = this;
    let { inbox, sequence } = this;
    let broken = false;
    const begin = now();
    for (let laps = units / lap; laps > 0; laps--) {
      resolvers[1]((sequence + 1) | 0);
      const token = await inbox;
      inbox = new Promise(arm);
      sequence = (sequence + lap) | 0;
      if (token !== sequence) broken = true;
    }
    const ticks = now() - begin;
    this.inbox = inbox;
    this.sequence = sequence;
    if (broken) this.broken = true;
    return ticks;
  }

  async runEach(units, histogram) {
    this.histogram = histogram;
    const { arm, lap, resolvers } = this;
    const begin = now();
    for (let laps = units / lap; laps > 0; laps--) {
      this.stamp = now();
      resolvers[1]((this.sequence + 1) | 0);
      const token = await this.inbox;
      const arrived = now();
      histogram.arrive(arrived - this.stamp);
      this.inbox = new Promise(arm);
      this.sequence = (this.sequence + lap) | 0;
      if (token !== this.sequence) this.broken = true;
    }
    return now() - begin;
  }

  async round(token) {
    this.resolvers[1](token);
    const came = await this.inbox;
    this.inbox = new Promise(this.arm);
    return came;
  }
}

// So many async functions around a body.
async function heldCall(entered, index, left, body) {
  entered[index]++;
  return await (left > 1 ? heldCall(entered, index, left - 1, body) : body());
}

// Functions that await through others.
class HeldRing extends PromiseRing {
  constructor(contexts, calls) {
    super(contexts, false, calls);
  }

  start() {
    const { calls } = this;
    for (let i = 1; i < this.lap; i++) heldCall(calls.entered, i, calls.depth, () => this.member(i));
  }

  async run(units) {
    return await heldCall(this.calls.entered, 0, this.calls.depth, () => super.run(units));
  }

  async reset() {
    await super.reset();
    this.calls.reset();
  }

  async claim() {
    return { ...(await super.claim()), counts: this.calls.counts(this.sequence, 1) };
  }
}

// Functions that call and return through others at each switch.
class UnwindingRing extends HeldRing {
  start() {
    this.arms = Array.from({ length: this.lap }, (_, index) => (resolve) => {
      this.resolvers[index] = resolve;
    });
    for (let i = 1; i < this.lap; i++) this.member(i);
  }

  // Hands the token over below so many calls, and gives the next one.
  async below(index, left, token) {
    this.calls.entered[index]++;
    if (left > 1) return await this.below(index, left - 1, token);
    const inbox = new Promise(this.arms[index]);
    this.resolvers[(index + 1) % this.lap](token);
    return await inbox;
  }

  async member(index) {
    const { arms, lap, resolvers } = this;
    const { depth: calls } = this.calls;
    const following = (index + 1) % lap;
    let due = index;
    let token = await new Promise(arms[index]);
    for (;;) {
      if (token === due) {
        due = (due + lap) | 0;
        token = await this.below(index, calls, (token + 1) | 0);
      } else {
        const answer = this.obey(index, due, token);
        due = this.due;
        const inbox = new Promise(arms[index]);
        resolvers[following](answer);
        token = await inbox;
      }
    }
  }

  async run(units) {
    const { lap } = this;
    const { depth: calls } = this.calls;
    let { sequence } = this;
    const begin = now();
    for (let laps = units / lap; laps > 0; laps--) {
      const token = await this.below(0, calls, (sequence + 1) | 0);
      sequence = (sequence + lap) | 0;
      if (token !== sequence) this.broken = true;
    }
    const ticks = now() - begin;
    this.inbox = new Promise(this.arm);
    this.sequence = sequence;
    return ticks;
  }
}

// Every function is always ready. The queue is first in, first out, so a lap is one pass through it. While the driver does
// something else than a lap, the others go on in vain.
class YieldRing extends AwaitRing {
  constructor(contexts, each) {
    super(contexts);
    this.neverIdle = true;
    this.token = IDLE;
    this.start(each);
  }

  async member(index) {
    const { lap } = this;
    let due = index;
    for (;;) {
      await undefined;
      const { token } = this;
      if (token === due) {
        due = (due + lap) | 0;
        this.token = (token + 1) | 0;
      } else if (token !== IDLE) {
        this.token = this.obey(index, due, token);
        due = this.due;
      }
    }
  }

  async memberEach(index) {
    const { lap } = this;
    let due = index;
    for (;;) {
      await undefined;
      const arrived = now();
      const { token } = this;
      if (token === due) {
        this.histogram.arrive(arrived - this.stamp);
        due = (due + lap) | 0;
        this.token = (token + 1) | 0;
      } else if (token !== IDLE) {
        this.token = this.obey(index, due, token);
        due = this.due;
      }
      this.stamp = now();
    }
  }

  async run(units) {
    const { lap } = this;
    let { sequence } = this;
    let broken = false;
    const begin = now();
    for (let laps = units / lap; laps > 0; laps--) {
      this.token = (sequence + 1) | 0;
      await undefined;
      sequence = (sequence + lap) | 0;
      if (this.token !== sequence) broken = true;
    }
    const ticks = now() - begin;
    this.token = IDLE;
    this.sequence = sequence;
    if (broken) this.broken = true;
    return ticks;
  }

  async runEach(units, histogram) {
    this.histogram = histogram;
    const { lap } = this;
    const begin = now();
    for (let laps = units / lap; laps > 0; laps--) {
      this.token = (this.sequence + 1) | 0;
      this.stamp = now();
      await undefined;
      const arrived = now();
      histogram.arrive(arrived - this.stamp);
      this.sequence = (this.sequence + lap) | 0;
      if (this.token !== this.sequence) this.broken = true;
    }
    const ticks = now() - begin;
    this.token = IDLE;
    return ticks;
  }

  async round(token) {
    this.token = token;
    await undefined;
    const came = this.token;
    this.token = IDLE;
    return came;
  }
}

async function heldFunction(held, index, count) {
  count.ran++;
  await new Promise((resolve) => {
    held[index] = resolve;
  });
  count.ran++;
}

const RINGS = { promise: PromiseRing, yield: YieldRing };

module.exports = {
  id: "fiber/js-await",
  experiments: ["switch", "footprint"],
  timings: engine.timings,
  parameters: [...depth.PARAMETERS, heapOffset.PARAMETER, { name: "handover", words: ["promise", "yield"] }],
  setUp(plan) {
    heapOffset.take(plan);
    const { handover } = plan.parameters;
    const calls = depth.callsOf(plan, handover === "promise" ? "" : "handover=promise");
    checkMemory(plan.contexts, BYTES_EACH[handover] + BYTES_A_CALL * (calls ? calls.depth : 0), "async functions");
    if (calls) return new (calls.unwound ? UnwindingRing : HeldRing)(plan.contexts, calls);
    return new RINGS[handover](plan.contexts, plan.timing === "each");
  },
  // Async functions, each at an `await` of a promise of its own that somebody could resolve.
  hold(plan, contexts) {
    if (plan.parameters.handover !== "promise") {
      throw unsupported(
        "unsupported_here",
        "with handover=yield all functions stay ready, so none is suspended; leave handover out",
      );
    }
    checkMemory(contexts, BYTES_EACH.promise, "async functions");
    const count = { ran: 0 };
    const held = new Array(contexts).fill(null);
    for (let index = 0; index < contexts; index++) heldFunction(held, index, count);
    return { held, ran: count.ran };
  },
};
