// What runs in a worker thread of executor/js-message; what it shares with the main thread stands in executor_js_message.js.
"use strict";

const { parentPort, workerData } = require("worker_threads");
const clock = require("../kit/clock");

const { words, turns, ran, epoch } = workerData;
// The main thread's epoch is another.
const later = (clock.epoch - epoch) * clock.TICKS_PER_SECOND;

parentPort.on("message", (task) => {
  Atomics.add(turns, task, 1);
  Atomics.add(words, 1, 1);
  const arrived = clock.now() + later;
  if (Atomics.sub(words, 0, 1) !== 1) return;
  ran[0] = arrived;
  Atomics.store(words, 2, 1);
  Atomics.notify(words, 2);
});
parentPort.postMessage("ready");
