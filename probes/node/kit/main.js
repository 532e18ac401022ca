// What the probe does when it is started.
"use strict";

const { sendHello, sendMechanisms } = require("./hello");
const { carryOut } = require("./measure");
const { checkDescribe, parsePlan, reportFd } = require("./plan");
const { Refusal, Writer, failed, refuse } = require("./wire");

const VERSION = "1";

// Carries out what the words ask, for these mechanisms, sorted by id; ends the process.
async function main(name, list) {
  // At once: contexts that hand on by `await undefined` would keep the process busy for ever.
  process.exit(await carryOutWords(process.argv.slice(2), name, list));
}

async function carryOutWords(words, name, list) {
  const writer = new Writer(reportFd(words));
  sendHello(writer, name, VERSION);
  try {
    await obey(writer, words, list);
    return 0;
  } catch (error) {
    const refusal = error instanceof Refusal ? error : failed("self_check_failed", String(error));
    if (refusal !== error) console.error(error);
    writer.sendEnd(0, refusal);
    return refusal.status === "unsupported" ? 0 : 1;
  }
}

// `describe` or `run`; returns only after `end` with status ok.
async function obey(writer, words, list) {
  const verb = words[0];
  if (verb === "describe") {
    checkDescribe(words.slice(1));
    sendMechanisms(writer, list);
    writer.sendEnd(0);
  } else if (verb === "run") {
    const { plan, mechanism } = parsePlan(words.slice(1), list);
    await carryOut(writer, plan, mechanism);
  } else {
    throw refuse(
      "bad_value",
      "the first word must be `describe` or `run`" + (verb === undefined ? "" : `, not \`${verb}\``),
    );
  }
}

module.exports = { main };
