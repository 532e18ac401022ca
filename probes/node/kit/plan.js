// One `run`, as asked: parsed once, never changed. What calibration makes of it stands in the `plan` message.
"use strict";

const { PROTOCOL, refuse } = require("./wire");

// Reads the words after `run`, in any order. The mechanism must be known before its parameters can be told from typing errors,
// so it is looked for first.
function parsePlan(words, list) {
  const take = new Taker(split(words));
  const mechanism = find(take.text("mechanism"), list);
  take.reportFd();
  take.word("protocol", [String(PROTOCOL)]);
  const plan = {
    mechanism: mechanism.id,
    experiment: take.word("experiment", mechanism.experiments),
    contexts: take.integer("contexts"),
    timing: take.word("timing", mechanism.timings),
    cpus: take.cpus("cpus"),
    batchUnits: take.integer("batch_units"),
    batchNs: take.integer("batch_ns"),
    batches: take.integer("batches"),
    warmupBatches: take.integer("warmup_batches"),
    verifyUnits: take.integer("verify_units"),
    seed: take.integer("seed"),
    parameters: {},
  };
  for (const { name, words: known } of mechanism.parameters) {
    plan.parameters[name] = known ? take.word(name, known) : String(take.integer(name));
  }
  for (const key of take.values.keys()) {
    throw refuse("unknown_key", `\`${key}\` is neither a key of \`run\` nor a parameter of ${mechanism.id}`);
  }
  return { plan: Object.freeze(plan), mechanism };
}

// Looked for before anything else is judged, so that even a refusal reaches the host.
function reportFd(words) {
  for (const word of words) {
    const found = /^report_fd=([0-9]{1,7})$/.exec(word);
    if (found) return Number(found[1]);
  }
  return 1;
}

// `describe` knows no key but report_fd.
function checkDescribe(words) {
  const take = new Taker(split(words));
  take.reportFd();
  for (const key of take.values.keys())
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

function find(id, list) {
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

  text(key) {
    if (!this.values.has(key)) {
      const detail = `\`${key}\` is missing; a plan has every key, and every parameter that \`describe\` lists`;
      throw refuse("bad_value", detail);
    }
    const text = this.values.get(key);
    this.values.delete(key);
    return text;
  }

  // The one key that has a default.
  reportFd() {
    if (this.values.has("report_fd")) this.integer("report_fd");
  }

  integer(key) {
    const text = this.text(key);
    if (!/^[0-9]{1,19}$/.test(text)) throw refuse("bad_value", `\`${key}=${text}\` must be an integer`);
    return Number(text);
  }

  word(key, words) {
    const text = this.text(key);
    if (!words.includes(text)) throw refuse("bad_value", `\`${key}=${text}\` must be one of: ${words.join(", ")}`);
    return text;
  }

  cpus(key) {
    const text = this.text(key);
    const parts = text === "" ? [] : text.split(",");
    if (!parts.every((part) => /^[0-9]{1,19}$/.test(part))) {
      throw refuse("bad_value", `\`${key}=${text}\` must be a list of CPU numbers such as 0,1`);
    }
    return parts.map(Number);
  }
}

module.exports = { checkDescribe, parsePlan, reportFd };
