// Where contexts lie inside their pages: behind a drawn number of blocks of every size, since the first free places of a fresh
// heap are the same in every start. The seed is another in every start.
"use strict";

const PARAMETER = { name: "heap_offset", words: ["drawn", "fixed"] };

// Words. Small blocks: of more survivors V8 makes its young generation larger, and collects half as often.
const LARGEST_BLOCK = 32;
const MOST_OF_A_SIZE = 16n;

// SplitMix64: seeds of neighbouring starts have nothing in common.
function* drawn(seed) {
  const low = (number) => BigInt.asUintN(64, number);
  for (let state = low(BigInt(seed) + 0x9e3779b97f4a7c15n); ; state = low(state + 0x9e3779b97f4a7c15n)) {
    let number = low((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    number = low((number ^ (number >> 27n)) * 0x94d049bb133111ebn);
    yield number ^ (number >> 31n);
  }
}

// As long as the process lives.
const kept = [];

// For a mechanism that makes contexts which stay: takes the blocks and gives their sizes in words. None where the plan says so.
function take(plan) {
  if (plan.parameters[PARAMETER.name] !== "drawn") return [];
  const sizes = [];
  const numbers = drawn(plan.seed);
  for (let size = 2; size <= LARGEST_BLOCK; size += 2) {
    for (let count = numbers.next().value % MOST_OF_A_SIZE; count > 0n; count--) sizes.push(size);
  }
  kept.push(...sizes.map((size) => new Array(size).fill(0)));
  return sizes;
}

module.exports = { PARAMETER, take };
