// The Node.js probe of switchcost; PROTOCOL.md says how it is spoken to.
"use strict";

// Before 10 the rest cannot even be read, so that this file must be for 4; what reads it says itself from which on it runs. The
// host shows the last line of a probe that says nothing else.
if (parseInt(process.versions.node, 10) < 10) {
  console.error("needs Node.js 18 or newer, and this is " + process.versions.node + "; put a newer one first in PATH");
  process.exit(1);
}

const main = require("./kit/main").main;

// At once: contexts that hand on by `await undefined` would keep the process busy for ever.
main(process.argv.slice(2)).then((status) => process.exit(status));
