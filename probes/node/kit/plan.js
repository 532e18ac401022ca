// One `run`, as asked: parsed once, never changed. What calibration makes of it stands in the `plan` message.
"use strict";

const { PROTOCOL, refuse } = require("./wire");

// The limits of PROTOCOL.md, section 1.
const MAX_UNITS = 1000000000000;
const MAX_BATCHES = 1000000;
const MAX_CONTEXTS = 1 << 24;
const MAX_CPU = (1 << 20) - 1;
const MAX_DESCRIPTOR = 1 << 20;
const MAX_SEED = (1n << 63n) - 1n;

// Reads the words after `run`. The mechanism must be known before its parameters can be told from typing errors, so it is
// looked for first; the order of the words does not matter.
function parsePlan(words, list) {
  const values = split(words);
  const mechanism = find(values, list);
  const take = new Taker(values);
  take.integer("report_fd", 1, 0, MAX_DESCRIPTOR);
  take.integer("protocol", PROTOCOL, PROTOCOL, PROTOCOL);
  const plan = {
    mechanism: mechanism.id,
    experiment: take.word("experiment", "switch", mechanism.experiments),
    contexts: take.integer("contexts", 2, 1, MAX_CONTEXTS),
    timing: take.word("timing", "batch", mechanism.timings),
    cpus: take.cpus("cpus"),
    batchUnits: take.integer("batch_units", 0, 0, MAX_UNITS),
    batchNs: take.integer("batch_ns", 1000000, 1, MAX_UNITS),
    batches: take.integer("batches", 30, 1, MAX_BATCHES),
    warmupBatches: take.integer("warmup_batches", 5, 0, MAX_BATCHES),
    verifyUnits: take.integer("verify_units", 1000, 0, MAX_CONTEXTS),
    seed: take.integer("seed", 0, 0, MAX_SEED),
    parameters: {},
  };
  for (const parameter of mechanism.parameters) {
    plan.parameters[parameter.name] = take.word(parameter.name, parameter.default, parameter.words);
  }
  for (const key of values.keys()) {
    throw refuse("unknown_key", `\`${key}\` is neither a key of \`run\` nor a parameter of ${mechanism.id}`);
  }
  if (plan.experiment === "switch" && plan.contexts < 2 && !mechanism.control) {
    throw refuse("bad_value", "a ring needs at least two contexts: contexts=2 or more");
  }
  return { plan: Object.freeze(plan), mechanism };
}

// Looked for before anything else is judged, so that even a refusal reaches the host.
function reportFd(words) {
  for (const word of words) {
    const found = /^report_fd=([0-9]{1,7})$/.exec(word);
    if (found && Number(found[1]) <= MAX_DESCRIPTOR) return Number(found[1]);
  }
  return 1;
}

// `describe` knows no key but report_fd.
function checkDescribe(words) {
  const values = split(words);
  new Taker(values).integer("report_fd", 1, 0, MAX_DESCRIPTOR);
  for (const key of values.keys())
    throw refuse("unknown_key", `\`${key}\` is not a key of \`describe\`; only report_fd is`);
}

function split(words) {
  const values = new Map();
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) throw refuse("unknown_key", `\`${word}\` is not of the form key=value`);
    const key = word.slice(0, equals);
    const value = word.slice(equals + 1);
    if (!/^[A-Za-z0-9._,/+-]*$/.test(value)) {
      throw refuse("bad_value", `the value of \`${key}\` may hold only letters, digits and . _ , / + -`);
    }
    if (values.has(key)) throw refuse("bad_value", `\`${key}\` is given twice; give it once`);
    values.set(key, value);
  }
  return values;
}

function find(values, list) {
  if (!values.has("mechanism")) throw refuse("bad_value", "`mechanism` is missing; `describe` lists the mechanisms");
  const id = values.get("mechanism");
  values.delete("mechanism");
  const found = list.find((mechanism) => mechanism.id === id);
  if (!found)
    throw refuse("unknown_mechanism", `this probe has no mechanism \`${id}\`; \`describe\` lists those it has`);
  return found;
}

// Removes values one by one; whatever is left at the end is unknown.
class Taker {
  constructor(values) {
    this.values = values;
  }

  take(key, fallback) {
    const text = this.values.has(key) ? this.values.get(key) : String(fallback);
    this.values.delete(key);
    return text;
  }

  integer(key, fallback, lowest, highest) {
    const text = this.take(key, fallback);
    if (!/^[0-9]{1,19}$/.test(text) || BigInt(text) < BigInt(lowest) || BigInt(text) > BigInt(highest)) {
      throw refuse("bad_value", `\`${key}=${text}\` must be an integer from ${lowest} to ${highest}`);
    }
    return Number(text);
  }

  word(key, fallback, words) {
    const text = this.take(key, fallback);
    if (!words.includes(text)) throw refuse("bad_value", `\`${key}=${text}\` must be one of: ${words.join(", ")}`);
    return text;
  }

  cpus(key) {
    const text = this.take(key, "");
    const parts = text === "" ? [] : text.split(",");
    if (!parts.every((part) => /^[0-9]{1,19}$/.test(part) && Number(part) <= MAX_CPU)) {
      throw refuse("bad_value", `\`${key}=${text}\` must be a list of CPU numbers from 0 to ${MAX_CPU} such as 0,1`);
    }
    return parts.map(Number);
  }
}

module.exports = { checkDescribe, parsePlan, reportFd };
