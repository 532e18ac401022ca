// Two generators, resumed in turn. `bench/generator.js CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside.
//
// Each compares the token with the one it is due: that is part of what coroutine/js-generator says a unit is.
"use strict";

function* member(index) {
  let due = index;
  let token = yield 0;
  for (;;) {
    if (token !== due) throw new Error(`token ${token}, due ${due}`);
    due = (due + 2) | 0;
    token = yield (token + 1) | 0;
  }
}

const [switches, batches] = process.argv.slice(3).map(Number);
const generators = [member(0), member(1)];
for (const generator of generators) generator.next();

function pass(laps, token) {
  for (; laps > 0; laps--) {
    for (let i = 0; i < 2; i++) token = generators[i].next(token).value;
  }
  return token;
}

let token = 0;
for (let warm = 0; warm < 50; warm++) token = pass(switches / 2, token);
for (let batch = 0; batch < batches; batch++) {
  const begin = process.hrtime.bigint();
  token = pass(switches / 2, token);
  console.log(Number(process.hrtime.bigint() - begin) / switches);
}
