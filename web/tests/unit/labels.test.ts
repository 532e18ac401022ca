import { expect, test } from "@playwright/test";
import { apart, placed } from "../../src/labels";

test("labels of marks in a heap lie on no other, and within the picture", () => {
  // A phone's picture, marks as near to one another as those of fibers and coroutines are.
  const room = { left: 74, right: 310, top: 30, bottom: 372 };
  const names = ["stack/corosensei", "stack/asm", "stack/fcontext", "coroutine/python-generator", "coroutine/cpp20"];
  const marks = Array.from({ length: 15 }, (_, i) => ({ x: 10 * 1.1 ** i, y: 1000 * 1.2 ** i, text: names[i % 5]! }));
  const found = placed(marks, [1, 10_000], [100, 1e6], room);
  expect(found.map(({ text }) => text)).toEqual(marks.map(({ text }) => text));
  for (const [i, { box: a }] of found.entries()) {
    expect(a.left).toBeGreaterThanOrEqual(room.left);
    expect(a.bottom).toBeLessThanOrEqual(room.bottom);
    for (const { box: b } of found.slice(i + 1))
      expect(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top).toBe(true);
  }
  expect(found.some(({ leadX }) => leadX !== null)).toBe(true);
});

test("labels at the ends of lines part as little as they must, up and down", () => {
  expect(apart([10, 100, 200], 15)).toEqual([10, 100, 200]);
  // Two on one another give way by half of it each; a third, pushed on, moves all three.
  expect(apart([50, 50], 15)).toEqual([42.5, 57.5]);
  expect(apart([50, 50, 60, 300], 15).map((at) => Math.round(at * 10) / 10)).toEqual([38.3, 53.3, 68.3, 300]);
  expect(apart([], 15)).toEqual([]);
});
