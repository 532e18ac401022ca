// What runs in a worker thread: one context of thread/js-worker. What it shares with the main thread stands in
// thread_js_worker.js.
"use strict";

const { parentPort, workerData } = require("worker_threads");
const clock = require("../kit/clock");
const machine = require("../kit/machine");
const { place } = require("./place");
const { Ring } = require("../kit/ring");

// Counts itself, and ends, or waits for ever.
function live({ ran, stays }) {
  Atomics.add(ran, 0, 1);
  if (!stays) return;
  parentPort.postMessage("ready");
  Atomics.wait(ran, 1, 0);
}

function ringOf({ index, lap, boxes, flags, visits }) {
  const ring = new Ring(lap);
  ring.turns = { count: (turns) => Atomics.store(flags, index, turns) };
  const cpu = machine.cpuReader();
  const thread = machine.threadReader();
  ring.trace = {
    visit(sequence, context) {
      if (sequence < visits.who.length) {
        visits.who[sequence] = context;
        visits.cpu[sequence] = cpu();
        visits.thread[sequence] = thread();
      }
    },
  };
  return { ring, mine: place(boxes, index), next: place(boxes, (index + 1) % lap) };
}

function passing(data) {
  const { index, lap, flags } = data;
  const { ring, mine, next } = ringOf(data);
  let due = index;
  for (;;) {
    let token = mine.take();
    if (token === due) {
      due = (due + lap) | 0;
      token = (token + 1) | 0;
    } else {
      token = ring.obey(index, due, token);
      ({ due } = ring);
      if (ring.broken) Atomics.store(flags, 0, 1);
    }
    next.put(token);
  }
}

// The main thread's epoch is another.
const shift = (epoch) => (clock.epoch - epoch) * clock.TICKS_PER_SECOND;

function recording(data) {
  const { index, lap, flags, times, epoch } = data;
  const { ring, mine, next } = ringOf(data);
  const later = shift(epoch);
  let due = index;
  for (;;) {
    let token = mine.take();
    const arrived = clock.now() + later;
    if (token === due) {
      times[index] = arrived - times[0];
      due = (due + lap) | 0;
      token = (token + 1) | 0;
    } else {
      token = ring.obey(index, due, token);
      ({ due } = ring);
      if (ring.broken) Atomics.store(flags, 0, 1);
    }
    times[0] = clock.now() + later;
    next.put(token);
  }
}

function answering(data) {
  const { index, lap, flags, times, epoch, each, from, to } = data;
  const { ring } = ringOf(data);
  const later = shift(epoch);
  let due = index;
  from.on("message", (handed) => {
    const arrived = each ? clock.now() + later : 0;
    let token = handed;
    if (token === due) {
      if (each) times[index] = arrived - times[0];
      due = (due + lap) | 0;
      token = (token + 1) | 0;
    } else {
      token = ring.obey(index, due, token);
      ({ due } = ring);
      if (ring.broken) Atomics.store(flags, 0, 1);
    }
    if (each) times[0] = clock.now() + later;
    to.postMessage(token);
  });
}

if (workerData.ran) {
  live(workerData);
} else {
  if (workerData.from) answering(workerData);
  parentPort.postMessage("ready");
  if (!workerData.from) (workerData.each ? recording : passing)(workerData);
}
