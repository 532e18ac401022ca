// The clock of the batches, which is also the counter of timing=each: JavaScript has nothing finer.
"use strict";

const TICKS_PER_SECOND = 1000000000;

// Seconds since an epoch of our own, so that nanoseconds stay exact in a number (for 104 days).
const [epoch] = process.hrtime();

// process.hrtime reads the monotonic clock at half the price of process.hrtime.bigint (27 ns to 54 ns with Node.js 20) and
// leaves no big integer behind for the collector.
function now() {
  const [seconds, nanoseconds] = process.hrtime();
  return (seconds - epoch) * TICKS_PER_SECOND + nanoseconds;
}

const NAME = { linux: "CLOCK_MONOTONIC", darwin: "mach_continuous_time" }[process.platform] || "uv_hrtime";

// Mean of the quickest of some short rows of readings, rounded up. Enough rows for the compiler to have its turn.
function readCost() {
  const rows = 200;
  const readings = 100;
  let quickest = Infinity;
  for (let row = 0; row < rows; row++) {
    const begin = now();
    let end = begin;
    for (let i = 0; i < readings; i++) end = now();
    quickest = Math.min(quickest, end - begin);
  }
  return Math.ceil(quickest / readings);
}

module.exports = { NAME, TICKS_PER_SECOND, epoch, now, readCost };
