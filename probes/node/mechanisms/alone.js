// What the controls of js-await share: one async function does the units alone.
"use strict";

const { now } = require("../kit/clock");

// `repeat(units)` is the measured region.
class Alone {
  constructor(repeat) {
    this.lap = 1;
    this.repeat = repeat;
  }

  async run(units) {
    const begin = now();
    await this.repeat(units);
    return now() - begin;
  }

  reset() {}

  claim() {
    return { turns: null, token: null, broken: false };
  }

  verify() {
    return false;
  }
}

const control = (id, repeat) => ({
  id,
  control: true,
  experiments: ["switch"],
  timings: ["batch"],
  parameters: [],
  setUp: () => new Alone(repeat),
});

module.exports = { control };
