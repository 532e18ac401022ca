/** What a page of several runs says first, and what it compares. */

import { expect, type Page, test } from "@playwright/test";
import { readFileSync } from "node:fs";
import type { PageData } from "../../src/data";
import { range, type Quantity, TIME } from "../../src/format";
import { dataOf, pageFile } from "./fixtures";
import { cells, go, open } from "./opened";

const data = (name: string): PageData => dataOf(readFileSync(pageFile(name), "utf8"));

/** Figures of each label that several runs have. */
function common({ runs }: PageData): Map<string, number[][]> {
  const found = new Map<string, number[][]>();
  for (const { results } of runs)
    for (const row of results) {
      const figures =
        row.modes.length > 0 ? row.modes.map(([value]) => value) : row.median === null ? [] : [row.median];
      if (figures.length > 0) found.set(row.label, [...(found.get(row.label) ?? []), figures]);
    }
  return new Map([...found].filter(([, all]) => all.length > 1));
}

test("several runs are summed up in a sentence and cards", async ({ page }) => {
  for (const [name, machines] of [
    ["two", "one machine"],
    ["goroutines", "one machine"],
    ["strangers", "3 machines or kernels"],
    ["connections", "one machine"],
  ] as const) {
    const all = data(name);
    const rows = common(all);
    const wrong = await open(page, name);
    const told = rows.size === 0 ? "no row" : `${rows.size} row${rows.size === 1 ? "" : "s"}`;
    await expect(page.locator("header > .sentence"), name).toHaveText(
      new RegExp(`^${all.runs.length} runs of ${machines}, \\d+ Nov.*: ${told} in common\\.$`),
    );
    const cards = page.locator(".answers .answer");
    expect(await cards.count(), name).toBeGreaterThanOrEqual(3);
    for (const card of await cards.all()) {
      const [label, figure] = [await card.locator("span").innerText(), await card.locator("strong").innerText()];
      expect(label, name).not.toMatch(/^control/);
      if (rows.size === 0) continue;
      const figures = rows.get(label)!.flat();
      expect(figure, label).toBe(range([Math.min(...figures), Math.max(...figures)], TIME as Quantity));
      await expect(card.locator("small")).toHaveText(`${rows.get(label)!.length} runs`);
    }
    // Nothing but the answer and the picture is unfolded, and no card runs out of its frame.
    await expect(page.locator("main details[open], header details[open]")).toHaveCount(0);
    expect(
      await cards.evaluateAll((all) => all.filter((card) => card.scrollWidth > card.clientWidth + 1).length),
      name,
    ).toBe(0);
    expect(wrong).toEqual([]);
  }
});

/** Labels of a picture's lines. */
const lines = (page: Page, figure: string): Promise<string[]> =>
  page
    .locator(`#${figure} svg text > title`)
    .evaluateAll((titles) => titles.map((title) => title.textContent ?? "").filter((text) => /^\w+\/\S/.test(text)));

test("Compare opens on the runs with most rows in common, and offers none without", async ({ page }) => {
  const { runs, tables } = data("strangers");
  await open(page, "strangers", "#view=compare");
  await expect(page.locator("#compare h3")).toContainText("Ratio of costs: second-ladder.jsonl");
  await expect(page.locator("#compare h3")).toContainText("against ladder.jsonl");
  const between = tables.filter((table) => table.reference === null);
  expect(between.map((table) => table.comparisons.length)).toEqual([3, 0, 29]);
  const offered = await page.locator("#table option").allTextContents();
  // The run of wake-ups has no row in common with any.
  expect(offered.filter((text) => !text.startsWith("rows against")).length).toBe(2);
  await expect(page.locator("#compare .made")).toContainText("29 comparisons");
  expect(runs.length).toBe(4);
  // Where filters leave nothing, nothing is counted.
  const second = await page
    .locator("#table option", { hasText: "second-ladder.jsonl against" })
    .first()
    .getAttribute("value");
  await go(page, `view=compare&table=${second}&text=nothing-has-this`);
  await expect(page.locator("main")).toContainText("No row of this comparison passes the filters.");
  await expect(page.locator("main")).not.toContainText("n: 0");
});

for (const [name, against] of [
  ["ordinary", "thread/futex"],
  ["two", null],
] as const)
  test(`${name}: every row that is compared stands in the picture, and in the sentence`, async ({ page }) => {
    const all = data(name);
    const table = all.tables.find((one) => one.reference === against)!;
    await open(page, name, "#view=compare");
    expect((await lines(page, "compare")).sort()).toEqual(table.comparisons.map((one) => one.b).sort());
    const number = (...words: (string | null)[]) =>
      table.comparisons.filter(({ verdict }) => words.includes(verdict)).length;
    const sentence = await page.locator("#compare .sentence").innerText();
    const counts = [...sentence.matchAll(/(\d+) (cost|costs|inconclusive|rows|row)( more| less| the same)?/g)].map(
      ([, count, , word = ""]) => [word.trim(), Number(count)] as const,
    );
    expect(sentence).toMatch(new RegExp(`^Of ${table.comparisons.length} rows, `));
    for (const [word, verdict] of [
      ["more", "slower"],
      ["less", "faster"],
      ["the same", "same"],
    ] as const)
      expect(counts.find(([of]) => of === word)?.[1] ?? 0, word).toBe(number(verdict));
    // What has neither ratio nor interval says why in the place of its marks.
    const bare = table.comparisons.filter((one) => one.ratio === null && one.low === null);
    expect(bare.length).toBe(1);
    for (const { reason } of bare)
      await expect(page.locator("#compare svg text", { hasText: `inconclusive: ${reason}` })).toHaveCount(1);
    const bars = table.comparisons.filter((one) => one.low !== null).length;
    await expect(page.locator("#compare g[data-mark=link]").nth(1).locator("path")).toHaveCount(bars);
  });

test("each machine of the legend has its mark, and one without is named with the reason", async ({ page }) => {
  await open(page, "strangers");
  await expect(page.locator("#view-machines")).toBeVisible();
  await expect(page.locator("#machines-time h3")).toHaveText("The same rows on 2 machines or kernels");
  const legend = page.locator("#machines-time .legend li");
  await expect(legend).toHaveCount(2);
  const marks = await page
    .locator("#machines-time .picture g[data-mark=dot] > *")
    .evaluateAll((dots) => [...new Set(dots.map((dot) => dot.getAttribute("stroke")))]);
  const shown = await legend
    .locator("svg g[data-mark=dot]")
    .evaluateAll((groups) =>
      groups.map(
        (group) => (group.getAttribute("stroke") ?? group.firstElementChild?.getAttribute("stroke")) as string,
      ),
    );
  expect(marks.sort()).toEqual(shown.sort());
  await expect(page.locator("#machines-time .fine")).toHaveText(/^Not drawn: AMD EPYC.*\(no row in common\)\.$/);
  // A placement that nothing was measured in has no place in its legend either.
  await open(page, "ordinary", "#view=placement");
  await expect(page.locator("#placement-time .legend li")).toHaveText(["one CPU", "free: the scheduler's choice"]);
  const rows = await cells(page, "placement-time");
  expect(rows[0]!.length).toBe(4);
  await expect(page.locator("#placement-time .fine")).toHaveText(
    /^Measured in one placement only: \d+ rows on one CPU, fiber\/goroutine os_threads=all free\.$/,
  );
});
