// What the probe says about itself.
"use strict";

const clock = require("./clock");
const engine = require("./engine");
const { PROTOCOL } = require("./wire");

const OLDEST = 18;

// Why no mechanism can run on this Node.js; null when they can.
function wrongRuntime() {
  const major = parseInt(process.versions.node, 10);
  return major < OLDEST
    ? `needs Node.js ${OLDEST} or newer, and this is ${process.versions.node}; put a newer one first in PATH`
    : null;
}

function sendHello(writer, probe, version) {
  writer.send({
    t: "hello",
    protocol: PROTOCOL,
    probe,
    version,
    runtime: engine.runtime,
    compiler: null,
    flags: process.execArgv.join(" ") || null,
    pid: process.pid,
    clock: { name: clock.NAME, ticks_per_second: clock.TICKS_PER_SECOND, read_cost_ticks: clock.readCost() },
    counter: { name: "hrtime" },
  });
}

// Answers `describe`.
function sendMechanisms(writer, list) {
  const wrong = wrongRuntime();
  for (const { id, experiments, timings, parameters } of list) {
    const message = {
      t: "mechanism",
      id,
      experiments,
      timings,
      parameters: parameters.map(({ name }) => name),
      available: !wrong,
    };
    if (wrong) Object.assign(message, { code: "unsupported_here", reason: wrong });
    writer.send(message);
  }
}

module.exports = { sendHello, sendMechanisms, wrongRuntime };
