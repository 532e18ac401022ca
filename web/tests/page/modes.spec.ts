/** A row that has modes has no single number in any view. */

import { expect, type Page, test } from "@playwright/test";
import { readFileSync } from "node:fs";
import type { PageData, Result } from "../../src/data";
import { amount, percent, type Quantity, TIME } from "../../src/format";
import { dataOf, pageFile } from "./fixtures";
import { axe, cells, changed, go, open } from "./opened";

const VIEWS = [
  "ladder",
  "distribution",
  "evidence",
  "compare",
  "rounds",
  "life",
  "placement",
  "memory",
  "history",
  "explain",
  "machines",
];

/** Columns that have the figure of the row itself. */
const HEADLINES = /^(median|ratio|B costs|one switch|switch|most expensive ÷ cheapest|× reference|×|p50)$/;

const SEVERAL = / or | \| |^–$|^bimodal$|^modes$|^$/;

const modal = (data: PageData): Result[] =>
  data.runs.flatMap((run) => run.results.filter((row) => row.modes.length > 1));

/** What stands for one mode alone. */
const alone = (rows: Result[]): string[] =>
  rows.flatMap((row) => row.modes.map(([value]) => amount(value, TIME as Quantity)));

/** Texts of pictures, and headline cells of rows with modes, that name one number. */
async function single(page: Page, rows: Result[]): Promise<string[]> {
  const labels = rows.map((row) => row.label);
  const texts = await page.locator("svg g:not([data-mark*=axis]) > text").allTextContents();
  const told = texts.filter((text) => alone(rows).some((one) => text === one || text.startsWith(`${one}  `)));
  const tables = await page.locator("main table").evaluateAll((tables, labels) => {
    const words = (of: Element | undefined): string => of?.textContent ?? "";
    return tables.flatMap((table) => {
      const heads = [...table.querySelectorAll("thead th")].map(words);
      return [...table.querySelectorAll("tbody tr:not(.under)")]
        .filter((row) => labels.includes(words(row.children[0])))
        .flatMap((row) => heads.map((head, i) => [head, words(row.children[i])] as const));
    });
  }, labels);
  return [...told, ...tables.filter(([head, cell]) => HEADLINES.test(head) && !SEVERAL.test(cell)).map(String)];
}

/** Gives modes to the rows of a page that fit. */
function split({ runs }: PageData, fits: (row: Result) => boolean): void {
  for (const { results, details } of runs)
    results.forEach((row, i) => {
      if (!fits(row) || row.median === null) return;
      details[i]!.cells = details[i]!.cells.map(() => "modes");
      const modes = [row.median, 9 * row.median].map((value): [number, number] => [value, 0.5]);
      Object.assign(row, { median: null, low: null, high: null, times_reference: null, modes });
    });
}

for (const name of ["ordinary", "rows"])
  test(`${name}: no view has a single number for a row with modes`, async ({ page }) => {
    const rows = modal(dataOf(readFileSync(pageFile(name), "utf8")));
    expect(rows.length).toBeGreaterThan(1);
    const wrong = await open(page, name);
    for (const view of VIEWS) {
      await go(page, `view=${view}`);
      await expect(page.locator(`#view-${view}`)).toBeVisible();
      expect(await single(page, rows), view).toEqual([]);
    }
    await go(page, `view=distribution&open=${encodeURIComponent(rows[0]!.label)}`);
    await expect(page.locator("#spread-time svg text", { hasText: / or .* [nµ]s( \(\d+ %\))?$/ })).toHaveCount(
      rows.length,
    );
    await expect(page.locator("#panel")).toContainText("bimodal: ");
    expect(wrong).toEqual([]);
  });

test("the most frequent mode stands first, with each share, in order, picture and table", async ({ page }) => {
  const rows = modal(dataOf(readFileSync(pageFile("ordinary"), "utf8")));
  await open(page, "ordinary");
  const table = await cells(page, "ladder-switch");
  const said = await page.locator("#ladder-switch svg text").allTextContents();
  for (const row of rows) {
    const modes = [...row.modes].sort(([, a], [, b]) => b - a);
    const [first, second] = modes.map(([value, share]) => {
      const digits = amount(value, TIME as Quantity).split(" ")[0]!;
      return new RegExp(`${digits}( [nµ]s)? \\(${percent(share)}\\)`).source;
    });
    const words = new RegExp(`^${first} or ${second}`);
    // On a phone the shares may have no room beside the name.
    const drawn = page.viewportSize()!.width > 640 ? words : new RegExp(words.source.replace(/ \\\(\d+ %\\\)/g, ".*"));
    expect(table.find(([label]) => label === row.label)![2], row.label).toMatch(words);
    expect(said.filter((text) => drawn.test(text)).length, row.label).toBe(1);
  }
  const labels = table.map(([label]) => label);
  // By the mode that is met more often it is the most expensive of the threads.
  expect(labels.indexOf("thread/pipe free")).toBe(labels.indexOf("thread/condvar") + 1);
  const radii = await page
    .locator("#ladder-switch g[data-mark=dot]")
    .first()
    .locator("circle")
    .evaluateAll((dots) => dots.map((dot) => Number(dot.getAttribute("r"))));
  expect(radii.length).toBe(2 * rows.length);
  expect(Math.max(...radii)).toBeGreaterThan(1.5 * Math.min(...radii));
});

test("runs of two modes are compared, drawn over time and between machines by both", async ({ page }) => {
  for (const name of ["two", "several"]) {
    const data = await changed(page, name, (data) => split(data, () => true));
    for (const view of VIEWS) {
      await go(page, `view=${view}`);
      await expect(page.locator(`#view-${view}`)).toBeVisible();
      expect(await single(page, modal(data)), view).toEqual([]);
    }
  }
});

test("a ratio of rows with modes is a range without a mark", async ({ page }) => {
  await open(page, "ordinary", "#view=compare&against=stack%2Fasm");
  const rows = await cells(page, "compare");
  const [free] = rows.filter((row) => row[0] === "thread/pipe free");
  expect(free![4]).toBe("bimodal");
  await expect(page.locator("#compare svg text", { hasText: / – .*slower/ }).first()).toBeVisible();
  const marks = await page.locator("#compare g[data-mark=dot] > *").count();
  expect(marks).toBe(rows.filter((row) => !["–", "bimodal"].includes(row[4]!)).length);
});

test("no line of a curve goes through a point with modes, and a pair with modes has no colour", async ({ page }) => {
  const data = await changed(page, "sweeps", (data) =>
    split(data, ({ label }) => label.includes("pair:0-1") || label === "stack/fcontext working_set=4096"),
  );
  await go(page, "view=curves");
  const [second] = (await cells(page, "curve-switch-working_set")).filter((row) => row[1] === "4 KiB");
  expect(second![2]).toMatch(/ or /);
  expect(second!.slice(3, 8)).toEqual(["–", "–", "–", "–", "–"]);
  await go(page, "view=pairs");
  await expect(page.locator("#view-pairs svg text", { hasText: /or/ }).first()).toBeVisible();
  expect(modal(data).length).toBeGreaterThan(1);
  expect(await axe(page)).toEqual([]);
});

test("labels with parentheses are whole, and no part of them becomes a title", async ({ page }) => {
  await open(page, "rows", "#view=ladder");
  await expect(page.locator("#ladder-switch h3")).toHaveText("Cost of a switch");
  const labels = await page.locator("#ladder-switch svg text", { hasText: /^process\/pipe/ }).allTextContents();
  expect(labels.length).toBe(6);
  for (const label of labels) expect(label).toMatch(/^process\/pipe( free)? \(\d+ in a row\)/);
});

test("rows that differ in their lengths or parameters are rows of their own in Placement", async ({ page }) => {
  await open(page, "rows", "#view=placement");
  const told = (await cells(page, "placement-time")).map((row) => row[0]);
  expect(told).toEqual([200, 20000, 20].map((length) => `process/pipe (${length} in a row)`));
  await expect(page.locator("#placement-time svg text", { hasText: /^×|^bimodal/ })).toHaveText([
    /^bimodal/,
    /^×1\d\.\d/,
    /^bimodal/,
  ]);
  await open(page, "ordinary", "#view=placement");
  expect((await cells(page, "placement-time")).map((row) => row[0])).toEqual(["thread/pipe", "process/pipe"]);
  await expect(page.locator("#placement-time .fine")).toContainText("fiber/goroutine os_threads=all free");
});
