// Calls below the switches of generators and async functions (parameters `depth` and `frames`): each delegates to the next one by
// `yield*` or `await`, the last of which switches. held: each context made so many before its first switch, and returns from none.
// unwound: it makes them anew for each switch, and returns from all.
"use strict";

const { unsupported } = require("../kit/wire");

const PARAMETERS = [{ name: "depth" }, { name: "frames", words: ["held", "unwound"] }];

// null: none are asked. `other`: what else is asked that does not go with them, or nothing.
function callsOf(plan, other) {
  const depth = Number(plan.parameters.depth);
  if (depth === 0) return null;
  if (plan.timing === "each" || other) {
    const more = other ? ` and with ${other}` : "";
    throw unsupported("unsupported_here", `depth=${depth} is measured in batches${more}; leave the rest out`);
  }
  return new Calls(depth, plan.parameters.frames === "unwound", plan.contexts);
}

// What a ring counts of them.
class Calls {
  constructor(depth, unwound, contexts) {
    this.depth = depth;
    this.unwound = unwound;
    this.entered = new Float64Array(contexts); // By context; those that are held are not left.
    this.before = 0;
  }

  sum() {
    return this.entered.reduce((sum, entered) => sum + entered, 0);
  }

  reset() {
    this.before = this.sum();
  }

  // Below all of so many switches. Held: by the context from `first` on that has fewest.
  counts(units, first) {
    if (this.unwound) return { frames: this.sum() - this.before };
    return { frames: Math.min(...this.entered.subarray(first)) * units };
  }
}

module.exports = { PARAMETERS, callsOf };
