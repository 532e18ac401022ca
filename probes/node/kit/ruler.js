// A ruler: a fixed piece of work that has nothing to do with the mechanism. What it takes right before and right after a batch
// says how fast the machine was then, whatever the batch itself says.
//
// One is enough. A chain of dependent steps took up to a tenth more with a neighbour, as reading the clock is much code here, and said
// nothing else. And Node.js has no call of the kernel that is cheap and direct.
"use strict";

const { now } = require("./clock");

// Lasts three microseconds, of which a step of the clock is little.
const STEPS = 4000;

// So many readings before anything is timed, that V8 has compiled them.
const SETTLE = 3000;

// Steps of which a core takes several per cycle: a neighbour on the same core takes its share of them.
function widthOfCore(steps, a, b, c, d, e, f) {
  for (; steps > 0; steps--) {
    a = (a + 1) | 0;
    b = (b + 1) | 0;
    c = (c + 1) | 0;
    d = (d + 1) | 0;
    e = (e + 1) | 0;
    f = (f + 1) | 0;
  }
  return a ^ b ^ c ^ d ^ e ^ f;
}

// Readings before every batch and after the last.
class Ruler {
  constructor(batches) {
    this.ticks = new Float64Array(batches + 1);
    this.result = 0; // What nobody wants is not computed.
  }

  // Before batch i. First untimed: after a batch the code is anywhere but in the nearest cache.
  read(i) {
    this.result ^= widthOfCore(STEPS / 40, 1, 2, 3, 4, 5, 6);
    now();
    const begin = now();
    this.result ^= widthOfCore(STEPS, 1, 2, 3, 4, 5, 6);
    this.ticks[i] = now() - begin;
  }

  // The slower of that before and that after of these batches.
  beside(begin, end) {
    return this.ticks.slice(begin, end).map((before, i) => Math.max(before, this.ticks[begin + i + 1]));
  }
}

function warmUp() {
  const ruler = new Ruler(0);
  for (let i = 0; i < SETTLE; i++) ruler.read(0);
}

module.exports = { Ruler, warmUp };
