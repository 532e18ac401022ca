// The messages of PROTOCOL.md, section 2: one JSON object per line, ASCII, integers only.
"use strict";

const fs = require("fs");
const engine = require("./engine");

const PROTOCOL = 1;

// A line stays below 65 536 bytes even if every number had 20 digits.
const TICKS_PER_LINE = 3000;
const SAMPLES_PER_LINE = 1400; // With what the ruler took.
const BUCKETS_PER_LINE = 1400;

// Why a run does not take place or came to nothing; it becomes the `end` message.
class Refusal extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

// The plan is bad.
const refuse = (code, detail) => new Refusal("refused", code, detail);
// The plan is fine, but this machine cannot carry it out.
const unsupported = (code, detail) => new Refusal("unsupported", code, detail);
// Something broke.
const failed = (code, detail) => new Refusal("failed", code, detail);

const escape = (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0");

// One ASCII line: JSON.stringify leaves other characters as they are, and error texts may quote the command line.
function encode(message) {
  return JSON.stringify(message).replace(/[^\x00-\x7f]/g, escape) + "\n";
}

class Writer {
  constructor(descriptor) {
    this.descriptor = engine.open(descriptor);
  }

  // Writes one message. A host that no longer listens is the end of the run: nothing could be reported about it.
  send(message) {
    let line = Buffer.from(encode(message), "latin1");
    while (line.length > 0) {
      try {
        line = line.subarray(fs.writeSync(this.descriptor, line));
      } catch (error) {
        if (error.code === "EAGAIN") continue; // A descriptor that somebody made non-blocking.
        console.error(`cannot write a message: ${error.message}`);
        process.exit(1);
      }
    }
  }

  // Says what will be done, with the k that calibration gave.
  sendPlan(plan, units) {
    const { mechanism, experiment, contexts, timing, cpus, batches, warmupBatches, parameters } = plan;
    const keys = { mechanism, experiment, contexts, timing, cpus, batches, parameters };
    this.send({ t: "plan", ...keys, warmup_batches: warmupBatches, batch_units: units });
  }

  // Writes the ticks of one phase and what the ruler took beside them, and gives the next sequence number.
  sendSamples(seq, phase, units, ticks, width) {
    for (let begin = 0; begin < ticks.length; begin += SAMPLES_PER_LINE) {
      const part = (list) => Array.from(list.subarray(begin, begin + SAMPLES_PER_LINE));
      this.send({ t: "samples", seq: seq++, phase, units, ticks: part(ticks), rulers: { width: part(width) } });
    }
    return seq;
  }

  // Writes the histogram of one phase and gives the next sequence number.
  sendHistogram(seq, phase, histogram) {
    const buckets = histogram.buckets();
    for (let begin = 0; begin < buckets.length; begin += BUCKETS_PER_LINE) {
      this.send({
        t: "histogram",
        seq: seq++,
        phase,
        units: histogram.count,
        bits: histogram.bits,
        buckets: buckets.slice(begin, begin + BUCKETS_PER_LINE),
        sum: histogram.sum,
        min: histogram.min,
        max: histogram.max,
        pair_sum: histogram.pairSum,
        pair_count: histogram.pairCount,
        span_counter: histogram.spanCounter,
        span_clock: histogram.spanClock,
      });
    }
    return seq;
  }

  // Says how it ended.
  sendEnd(samples, refusal) {
    if (refusal === undefined) this.send({ t: "end", status: "ok", samples });
    else this.send({ t: "end", status: refusal.status, samples, code: refusal.code, detail: refusal.message });
  }
}

module.exports = { PROTOCOL, Refusal, TICKS_PER_LINE, Writer, encode, failed, refuse, unsupported };
