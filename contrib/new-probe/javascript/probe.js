// Measures coroutine/@name@. Put your library's calls into the three functions; the kit does the rest.
"use strict";

// A link to the installed kit. In another checkout: ln -sfn "$(switchcost new-probe --kit javascript)" kit
const { ownProbe } = require("./kit/own");

// What a context does: it takes the token that comes and hands on what turn makes of it.
function* live(turn) {
  let token = yield 0;
  for (;;) token = yield turn(token);
}

// Makes a context that is suspended. Gives what resumes it: it takes a token and gives the one handed on.
function make(turn) {
  const context = live(turn);
  context.next();
  return (token) => context.next(token).value;
}

function* brief(token) {
  yield token + 1;
}

// Makes a context, enters it once with the token, lets it end. Gives the token plus one.
function makeAndEnd(token) {
  const context = brief(token);
  const entered = context.next().value;
  context.next();
  return entered;
}

ownProbe("@name@", "coroutine/@name@", make, makeAndEnd);
