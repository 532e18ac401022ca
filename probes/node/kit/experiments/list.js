// Experiments that are not batches of a workload: carryOut(writer, plan, mechanism) of each reports everything but `hello`.
"use strict";

module.exports = {
  footprint: require("./footprint"),
  wakeup: require("./wakeup"),
  // Of contexts that a driver resumes.
  ofResumed: ["switch", "create", "footprint"],
  contextsEnd: ({ experiment }) => experiment === "create",
};
