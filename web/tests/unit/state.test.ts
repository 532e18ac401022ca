import { expect, test } from "@playwright/test";
import { parse, START, write } from "../../src/state";

test("a state survives its fragment", () => {
  const state = {
    ...START,
    view: "compare",
    families: ["a", "b"],
    text: "x & y = #z",
    page: 3,
    against: "thread/x free",
    theme: "dark",
  };
  expect(parse(write(state))).toEqual(state);
  expect(write(START)).toBe("#");
});

test("nonsense is left out", () => {
  expect(parse("#page=-1&nothing=1&view=")).toEqual(START);
  expect(parse("#page=1e99").page).toBe(0);
});
