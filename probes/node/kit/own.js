// A probe of one mechanism of the reader's own: contexts that a driver resumes in turn, each with the token that the one before
// it handed on. What `switchcost new-probe --language javascript` starts from.
//
// The driver is not a context: a switch is one suspension and one resumption.
"use strict";

require("./oldest");

const { now } = require("./clock");
const engine = require("./engine");
const experiments = require("./experiments/list");
const heapOffset = require("./heap_offset");
const { Turns } = require("./evidence");
const { main } = require("./main");
const { RESET, Ring, VERIFY } = require("./ring");

// What a context hands on: the next token for the one that it is due.
function turnOf(ring, index) {
  const { lap } = ring;
  let due = index;
  return function turn(token) {
    if (token === due) {
      due = (due + lap) | 0;
      return (token + 1) | 0;
    }
    const answer = ring.obey(index, due, token);
    due = ring.due;
    return answer;
  };
}

class OwnRing extends Ring {
  constructor(contexts, make) {
    super(contexts);
    this.resumptions = Array.from({ length: contexts }, (_, index) => make(turnOf(this, index)));
  }

  pass(laps, first) {
    const { lap, resumptions } = this;
    let token = first;
    for (; laps > 0; laps--) {
      for (let i = 0; i < lap; i++) token = resumptions[i](token);
    }
    return token;
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
    const { lap, resumptions } = this;
    const begin = now();
    let token = this.sequence;
    for (let i = 0; i < units; i++) {
      const sent = now();
      token = resumptions[i % lap](token);
      histogram.arrive(now() - sent);
    }
    this.sequence += units;
    if (token !== this.sequence) this.broken = true;
    return now() - begin;
  }

  verify(units, trace) {
    this.trace = trace;
    // Where the token begins: it has just come from the last context.
    trace.visit(0, this.lap - 1);
    this.pass(units / this.lap, VERIFY - 1);
    return true;
  }
}

class OwnCreation {
  constructor(makeAndEnd) {
    this.lap = 1;
    this.makeAndEnd = makeAndEnd;
    this.token = 0;
  }

  run(units) {
    const { makeAndEnd } = this;
    const begin = now();
    let token = this.token;
    for (; units > 0; units--) token = makeAndEnd(token);
    this.token = token;
    return now() - begin;
  }

  runEach(units, histogram) {
    const { makeAndEnd } = this;
    const begin = now();
    for (; units > 0; units--) {
      const before = now();
      this.token = makeAndEnd(this.token);
      histogram.arrive(now() - before);
    }
    return now() - begin;
  }

  reset() {
    this.token = 0;
  }

  // Each context has one turn, in which it counts the token up.
  claim() {
    return { turns: Turns.onceEach(this.token), token: this.token, broken: false };
  }

  verify() {
    return false;
  }
}

// The whole of a probe.
//
// make(turn) makes a context that is suspended, and gives what resumes it: a function of a token, which gives what the context
// hands on. That is turn(token), called by the context.
// makeAndEnd(token) makes a context, enters it once with the token, lets it end, and gives the token plus one.
function ownProbe(name, id, make, makeAndEnd) {
  const mechanism = {
    id,
    experiments: experiments.ofResumed,
    timings: engine.timings,
    parameters: [heapOffset.PARAMETER],
    setUp(plan) {
      if (experiments.contextsEnd(plan)) return new OwnCreation(makeAndEnd);
      heapOffset.take(plan);
      return new OwnRing(plan.contexts, make);
    },
    hold(_, contexts) {
      let ran = 0;
      const count = (token) => {
        ran++;
        return token;
      };
      const held = Array.from({ length: contexts }, () => make(count));
      for (const resume of held) resume(RESET);
      return { held, ran };
    },
  };
  main(name, [mechanism]);
}

module.exports = { ownProbe };
