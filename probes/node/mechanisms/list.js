// One file per mechanism. Sorted by id; a test checks it.
"use strict";

const list = [
  require("./control_js_microtask"),
  require("./control_js_promise"),
  require("./coroutine_js_generator"),
  require("./executor_js_message"),
  require("./fiber_js_await"),
  require("./fiber_js_timer"),
  require("./thread_js_worker"),
];

module.exports = { list };
