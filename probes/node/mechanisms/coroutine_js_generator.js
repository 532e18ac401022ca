// coroutine/js-generator: a driver resumes generators in turn, each with the token that the one before it yielded.
//
// The driver is not a context: a switch is the yield of one generator, the driver's loop, and the resumption of the next.
"use strict";

const { isGeneratorObject } = require("util").types;

const { now } = require("../kit/clock");
const engine = require("../kit/engine");
const heapOffset = require("../kit/heap_offset");
const { Turns } = require("../kit/evidence");
const { checkMemory } = require("../kit/measure");
const { Ring, VERIFY } = require("../kit/ring");
const { failed } = require("../kit/wire");
const depth = require("./depth");

// A generator with its registers (observed with Node.js 20).
const BYTES_EACH = 250;

// What a ring is made of: both kinds of contexts and the driver's loop over the generators that were made of one of them.
//
// Ring, lap and generators are constants of closures that are made once a process, so that V8 compiles them in. As parameters of a
// generator they would be saved and restored at every yield, as fields of the ring be read again at every switch.
function partsOf(ring) {
  const { lap } = ring;

  function* member(index) {
    let due = index;
    let token = yield 0;
    for (;;) {
      if (token === due) {
        due = (due + lap) | 0;
        token = yield (token + 1) | 0;
      } else {
        const answer = ring.obey(index, due, token);
        due = ring.due;
        token = yield answer;
      }
    }
  }

  function* memberEach(index) {
    let due = index;
    let token = yield 0;
    for (;;) {
      const arrived = now();
      if (token === due) {
        ring.histogram.arrive(arrived - ring.stamp);
        due = (due + lap) | 0;
        ring.stamp = now();
        token = yield (token + 1) | 0;
      } else {
        const answer = ring.obey(index, due, token);
        due = ring.due;
        token = yield answer;
      }
    }
  }

  // The same whose yields lie below calls.
  function* memberUnwinding(index) {
    const { entered, depth: calls } = ring.calls;
    let due = index;
    let token = yield 0;
    for (;;) {
      if (token === due) {
        due = (due + lap) | 0;
        token = yield* below(entered, index, calls, (token + 1) | 0);
      } else {
        const answer = ring.obey(index, due, token);
        due = ring.due;
        token = yield answer;
      }
    }
  }

  function passing(generators) {
    return function pass(laps, token) {
      for (; laps > 0; laps--) {
        for (let i = 0; i < lap; i++) token = generators[i].next(token).value;
      }
      return token;
    };
  }

  return { member, memberEach, memberUnwinding, passing };
}

// Yields the token below so many calls, and returns the next one.
function* below(entered, index, left, token) {
  entered[index]++;
  if (left > 1) return yield* below(entered, index, left - 1, token);
  return yield token;
}

// So many generators around a body.
function* held(entered, index, left, body) {
  entered[index]++;
  return yield* left > 1 ? held(entered, index, left - 1, body) : body;
}

class GeneratorRing extends Ring {
  constructor(contexts, each, calls) {
    super(contexts);
    this.calls = calls;
    const { member, memberEach, memberUnwinding, passing } = partsOf(this);
    const body = (each && memberEach) || (calls && calls.unwound && memberUnwinding) || member;
    const generators = Array.from({ length: contexts }, (_, index) =>
      calls && !calls.unwound ? held(calls.entered, index, calls.depth, body(index)) : body(index),
    );
    for (const generator of generators) generator.next();
    this.generators = generators;
    this.pass = passing(generators);
  }

  // The engine knows its generators: an object with a method `next` is none.
  async claim() {
    const found = new Set(this.generators.filter(isGeneratorObject)).size;
    if (found !== this.lap) throw failed("self_check_failed", `${found} of ${this.lap} contexts are generators`);
    return { ...(await super.claim()), counts: this.calls ? this.calls.counts(this.sequence, 0) : undefined };
  }

  async reset() {
    await super.reset();
    if (this.calls) this.calls.reset();
  }

  round(token) {
    return this.pass(1, token);
  }

  run(units) {
    const begin = now();
    const token = this.pass(units / this.lap, this.sequence);
    const ticks = now() - begin;
    this.sequence += units;
    if (token !== this.sequence) this.broken = true;
    return ticks;
  }

  runEach(units, histogram) {
    this.histogram = histogram;
    this.stamp = now(); // The first interval of a batch begins here and not in a generator.
    return this.run(units);
  }

  verify(units, trace) {
    this.trace = trace;
    // Where the token begins: it has just come from the last context.
    trace.visit(0, this.lap - 1);
    this.pass(units / this.lap, VERIFY - 1);
    return true;
  }
}

// Make a generator, enter it once, let it return, drop it.
class Creation {
  constructor() {
    this.lap = 1;
    this.entered = 0;
  }

  run(units) {
    const begin = now();
    for (; units > 0; units--) created(this).next();
    return now() - begin;
  }

  runEach(units, histogram) {
    const begin = now();
    for (; units > 0; units--) {
      const before = now();
      created(this).next();
      histogram.arrive(now() - before);
    }
    return now() - begin;
  }

  reset() {
    this.entered = 0;
  }

  claim() {
    return { turns: Turns.onceEach(this.entered), token: this.entered, broken: false };
  }

  verify() {
    return false;
  }
}

function* created(creation) {
  creation.entered++;
}

function* heldGenerator(count) {
  count.ran++;
  yield;
}

module.exports = {
  id: "coroutine/js-generator",
  experiments: ["switch", "create", "footprint"],
  timings: engine.timings,
  parameters: [...depth.PARAMETERS, heapOffset.PARAMETER],
  setUp(plan) {
    if (plan.experiment === "create") return new Creation();
    const calls = depth.callsOf(plan);
    heapOffset.take(plan);
    checkMemory(plan.contexts, BYTES_EACH * (1 + (calls ? calls.depth : 0)), "generators");
    return new GeneratorRing(plan.contexts, plan.timing === "each", calls);
  },
  // Generators at their first yield.
  hold(plan, contexts) {
    checkMemory(contexts, BYTES_EACH, "generators");
    const count = { ran: 0 };
    const held = Array.from({ length: contexts }, () => heldGenerator(count));
    for (const generator of held) generator.next();
    return { held, ran: count.ran };
  },
};
