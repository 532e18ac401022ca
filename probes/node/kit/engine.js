// Which engine carries the kit out. All three say which Node.js they stand for.
"use strict";

const fs = require("fs");

const { bun, deno, node, v8, webkit } = process.versions;

// V8 without its compilers (--jitless) has no WebAssembly either, and tells of them in no other way.
const compilers = typeof WebAssembly === "undefined" ? ", JIT off" : "";

const NODE = {
  name: "node",
  runtime: `Node.js ${node}, V8 ${v8}${compilers}`,
  timings: ["batch", "each"],
  tellsCollections: true,
  open: (number) => number,
};

// For both others: a reading of hrtime, which begins with the thread, costs more than a switch. Nothing tells of collections.
// For Deno: a descriptor that it was started with has a name only; a worker that waits keeps nothing alive.
const DENO = {
  name: "deno",
  runtime: `Deno ${deno}, V8 ${v8}${compilers}`,
  timings: ["batch"],
  tellsCollections: false,
  open(number) {
    setInterval(() => {}, 2 ** 30);
    return fs.openSync(`/dev/fd/${number}`, "a");
  },
};

const BUN = {
  ...NODE,
  name: "bun",
  runtime: `Bun ${bun}, JavaScriptCore ${String(webkit).slice(0, 7)}`,
  timings: ["batch"],
  tellsCollections: false,
};

module.exports = (bun && BUN) || (deno && DENO) || NODE;
