// Before 10 the rest cannot even be read, so that this file must be for 4; what reads it says itself from which on it runs. The
// host shows the last line of a probe that says nothing else.
"use strict";

if (parseInt(process.versions.node, 10) < 10) {
  console.error("needs Node.js 18 or newer, and this is " + process.versions.node + "; put a newer one first in PATH");
  process.exit(1);
}
