// What all rings share: the token and how a context treats it.
//
// The token counts every switch. Each context compares it with the number it is due, which advances by one lap a turn and
// so is its count of turns. Everything else is a command (a negative token), which takes the path of a wrong token, so
// that the measured loop pays one comparison for all of it. `| 0` keeps both in the machine's integers.
"use strict";

const { Turns } = require("./evidence");

const RESET = -1;
const PUBLISH = -2;
// The driver is busy with something else; only contexts that run without being handed anything see it.
const IDLE = -3;
// And below: the verification pass, VERIFY - sequence number.
const VERIFY = -1000;

class Ring {
  constructor(contexts) {
    this.lap = contexts;
    this.sequence = 0; // On the token, as the driver knows it.
    this.due = 0; // Answer of `obey`.
    this.broken = false;
    this.turns = null;
    this.trace = null;
    this.histogram = null;
    this.stamp = 0; // Counter as read by the sender.
  }

  // Called by a context with what is not the token it was due. Gives what it hands on, and in `this.due` what it is due next.
  obey(index, due, token) {
    this.due = due;
    if (token === RESET) {
      this.due = index;
    } else if (token === PUBLISH) {
      this.turns.count((due - index) / this.lap);
    } else if (token <= VERIFY) {
      this.trace.visit(VERIFY - token, index);
      return token - 1;
    } else {
      this.broken = true;
    }
    return token;
  }

  // A subclass has round(token): passes a token round once and gives what came back.

  async reset() {
    this.sequence = 0;
    await this.round(RESET);
  }

  async claim() {
    this.turns = new Turns();
    if (this.driverIsContext) this.turns.count(this.sequence / this.lap);
    await this.round(PUBLISH);
    return { turns: this.turns, token: this.sequence, broken: this.broken };
  }
}

module.exports = { IDLE, PUBLISH, RESET, Ring, VERIFY };
