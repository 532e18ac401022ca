// fiber/js-timer: an async function awaits a timer that ends at a time that was fixed beforehand.
"use strict";

const { PERIOD } = require("../kit/experiments/wakeup");

module.exports = {
  id: "fiber/js-timer",
  experiments: ["wakeup"],
  timings: ["batch"],
  parameters: [PERIOD],
  // What is left of a millisecond would be cut off: the timer would end too early, and another one be needed.
  sleep: (nanoseconds) =>
    new Promise((resolve) => {
      setTimeout(resolve, Math.ceil(nanoseconds / 1e6));
    }),
};
