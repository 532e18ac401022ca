// What of probes/node, whose kit this is, it carries out.
"use strict";

module.exports = [
  "control/js-microtask",
  "control/js-promise",
  "coroutine/js-generator",
  "fiber/js-await",
  "fiber/js-timer",
  "thread/js-worker",
];
