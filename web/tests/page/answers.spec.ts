/** What the page answers first, and what its pictures say without a table. */

import { expect, type Page, test } from "@playwright/test";
import { cells, go, open } from "./opened";

/** Labels of a picture that lie on one another, by more than their margins. */
const collisions = (page: Page, figure: string): Promise<string[]> =>
  page.locator(`${figure} svg g:not([data-mark*=axis]) > text`).evaluateAll((texts) => {
    const boxes = texts.map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    return boxes.flatMap(({ text, box: a }, i) =>
      boxes
        .slice(i + 1)
        .filter(
          ({ box: b }) =>
            Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4,
        )
        .map((other) => `${text} on ${other.text}`),
    );
  });

test("a number of connections means rings of that many contexts", async ({ page }) => {
  const wrong = await open(page, "connections", "#view=memory&contexts=1000000");
  const figure = page.locator("#memory");
  await expect(figure.locator("h3")).toHaveText("1,000,000 contexts: memory against switch");
  await expect(figure.locator("figcaption")).toContainText("in a ring of 1,000,000 contexts");
  await expect(figure.locator("svg")).toContainText("memory of 1,000,000 contexts");
  const rows = await cells(page, "memory");
  expect(rows.length).toBeGreaterThan(1);
  expect(new Set(rows.map((row) => row[2]))).toEqual(new Set(["1,000,000"]));
  await expect(figure.locator(".fine")).toContainText("Switch not measured with 1,000,000 contexts: ");
  expect(await collisions(page, "#memory")).toEqual([]);
  // Nothing here was measured with ten thousand: the page says so, and draws nothing for it.
  await go(page, "view=memory&contexts=10000");
  await expect(figure.locator("h3")).toHaveText("10,000 contexts: memory against switch");
  await expect(figure.locator("svg")).toHaveCount(0);
  await expect(figure.locator(".fine code")).toHaveText(/^switchcost run .* --contexts 10000$/);
  // Without a choice it is the number that most mechanisms were measured with.
  await go(page, "view=memory");
  await expect(figure.locator("svg")).toBeVisible();
  const [, chosen] = /^([\d,]+) contexts/.exec(await figure.locator("h3").innerText())!;
  expect(new Set((await cells(page, "memory")).map((row) => row[2]))).toEqual(new Set([chosen]));
  expect(wrong).toEqual([]);
});
