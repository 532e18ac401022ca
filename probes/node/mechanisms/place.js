// Where a context of thread/js-worker is handed a token by Atomics: a word of shared memory, in a line of its own.
"use strict";

const WORDS_A_LINE = 16;
const EMPTY = -3;

const boxesFor = (contexts) => new Int32Array(new SharedArrayBuffer(contexts * WORDS_A_LINE * 4)).fill(EMPTY);

function place(boxes, context) {
  const at = context * WORDS_A_LINE;
  return {
    put(token) {
      Atomics.store(boxes, at, token);
      Atomics.notify(boxes, at, 1);
    },
    take() {
      let found;
      while ((found = Atomics.load(boxes, at)) === EMPTY) Atomics.wait(boxes, at, EMPTY);
      Atomics.store(boxes, at, EMPTY);
      return found;
    },
  };
}

module.exports = { boxesFor, place };
