// control/js-microtask: an async function that nobody else waits beside awaits nothing: it is suspended, the queue of microtasks is
// taken from, and it goes on.
"use strict";

const { control } = require("./alone");

module.exports = control("control/js-microtask", async (units) => {
  for (; units > 0; units--) await undefined;
});
