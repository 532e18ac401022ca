// control/js-promise: a promise is made, resolved by the function that it gave out, and left to the collector; nobody awaits it.
"use strict";

const { control } = require("./alone");

let resolver = null;
const arm = (resolve) => {
  resolver = resolve;
};
// Kept, so that no compiler finds out that nobody looks at it.
const made = { last: null };

module.exports = control("control/js-promise", (units) => {
  for (; units > 0; units--) {
    made.last = new Promise(arm);
    resolver(units);
  }
});
