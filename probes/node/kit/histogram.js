// The histogram of timing=each. It has constant size, so that recording never allocates.
"use strict";

const { now } = require("./clock");

// Below 2^b every value has its own bucket, above it 2^b buckets share a power of two: at most 0.8 % wide.
const BITS = 7;
const WIDTH = 1 << BITS;
// Numbers are exact below 2^53.
const BUCKETS = (54 - BITS) * WIDTH + WIDTH;

function bucketOf(value) {
  if (value < 0x80000000) {
    const shift = 31 - Math.clz32((value >>> BITS) | 1);
    return (shift << BITS) + (value >>> shift);
  }
  const high = Math.floor(value / (WIDTH * 0x1000000)); // The value without its lowest 31 bits.
  const shift = 24 + 31 - Math.clz32(high);
  return shift * WIDTH + Math.floor(value / 2 ** shift);
}

function lowerEdge(bucket) {
  const shift = Math.max((bucket >>> BITS) - 1, 0);
  return (bucket - shift * WIDTH) * 2 ** shift;
}

class Histogram {
  constructor() {
    this.bits = BITS;
    this.counts = new Float64Array(BUCKETS);
    this.count = 0;
    this.sum = 0;
    this.min = Number.MAX_SAFE_INTEGER;
    this.max = 0;
    this.pairSum = 0;
    this.pairCount = 0;
    this.spanCounter = 0;
    this.spanClock = 0;
  }

  // Records an interval that a context read as its first act after it came to run. Then times two readings with nothing in
  // between: what the reading itself adds to every interval.
  arrive(interval) {
    this.record(interval);
    const first = now();
    this.pairSum += now() - first;
    this.pairCount++;
  }

  // Without such readings.
  record(interval) {
    this.counts[bucketOf(interval)]++;
    this.count++;
    this.sum += interval;
    if (interval < this.min) this.min = interval;
    if (interval > this.max) this.max = interval;
  }

  // What is not empty, ascending, as [lower edge, count].
  buckets() {
    const list = [];
    this.counts.forEach((count, bucket) => {
      if (count > 0) list.push([lowerEdge(bucket), count]);
    });
    return list;
  }
}

module.exports = { BITS, Histogram, bucketOf, lowerEdge };
