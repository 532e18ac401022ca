// A mistake, for a test: a context that is an object, called by the driver, and no generator. The evidence is the kit's.
"use strict";

module.exports = (ring, index) => {
  let due = index;
  return {
    next(token) {
      if (token === undefined) return { value: 0, done: false };
      if (token === due) {
        due += ring.lap;
        return { value: token + 1, done: false };
      }
      const answer = ring.obey(index, due, token);
      due = ring.due;
      return { value: answer, done: false };
    },
  };
};
