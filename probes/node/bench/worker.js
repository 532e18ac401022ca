// The main thread and a worker, which hand a number to and fro. `bench/worker.js KIND CPU SWITCHES_PER_BATCH BATCHES`, pinned from
// outside.
"use strict";

const { MessageChannel, Worker, isMainThread, workerData } = require("worker_threads");

function put(box, at, token) {
  Atomics.store(box, at, token);
  Atomics.notify(box, at, 1);
}

function take(box, at) {
  let found;
  while ((found = Atomics.load(box, at)) < 0) Atomics.wait(box, at, -1);
  Atomics.store(box, at, -1);
  return found;
}

function answer() {
  const { box, port } = workerData;
  if (port) port.on("message", (token) => port.postMessage(token + 1));
  else for (;;) put(box, 0, take(box, 16) + 1);
}

async function main([kind, , ...numbers]) {
  const [switches, batches] = numbers.map(Number);
  const box = new Int32Array(new SharedArrayBuffer(128)).fill(-1);
  const { port1, port2 } = new MessageChannel();
  const port = kind === "atomics" ? null : port2;
  new Worker(__filename, { workerData: { box, port }, transferList: port ? [port] : [] });
  let token = 0;
  for (let batch = 0; batch < batches; batch++) {
    let left = switches / 2;
    const begin = process.hrtime.bigint();
    if (kind === "atomics") {
      for (; left > 0; left--) {
        put(box, 16, token + 1);
        token = take(box, 0) % 2 ** 20;
      }
    } else {
      await new Promise((resolve) => {
        port1.removeAllListeners("message");
        port1.on("message", (came) => {
          token = came % 2 ** 20;
          if (--left > 0) port1.postMessage(token + 1);
          else resolve();
        });
        port1.postMessage(token + 1);
      });
    }
    console.log(Number(process.hrtime.bigint() - begin) / switches);
  }
  process.exit();
}

if (isMainThread) main(process.argv.slice(2));
else answer();
