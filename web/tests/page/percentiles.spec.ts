import { expect, test } from "@playwright/test";
import { readFileSync } from "node:fs";
import { duration } from "../../src/format";
import { dataOf, pageFile, shownFile } from "./fixtures";
import { axe, cells, changed, go, open } from "./opened";

interface Waits {
  results: {
    label: string;
    verdict: string;
    reason: string;
    median: number | null;
    notes: string[];
    percentiles: Record<string, number>;
  }[];
}

test("rows whose units each have a figure get small histograms on one axis", async ({ page }) => {
  const wrong = await open(page, "waits");
  const { results } = JSON.parse(readFileSync(shownFile("waits"), "utf8")) as Waits;
  const figure = page.locator("#percentiles-wakeup-batch");
  const drawn = results.filter((row) => row.median !== null);
  const missing = results.filter((row) => row.median === null);
  expect([drawn.length, missing.length]).toEqual([3, 2]);
  // A histogram each, and a dot and a name for each percentile that is carried; p99.9 is not.
  const paths = figure.locator("g[data-mark=histogram] path");
  await expect(paths).toHaveCount(drawn.length);
  for (const path of await paths.all()) expect((await path.getAttribute("d"))!.split("M").length).toBeGreaterThan(20);
  await expect(figure.locator("g[data-mark=dot]")).toHaveCount(3);
  await expect(figure.locator("g[data-mark=dot] > *")).toHaveCount(3 * drawn.length);
  const names = (await figure.locator("svg text").allTextContents()).join(" ");
  expect(names.match(/\bp50\b/g)!.length).toBeGreaterThanOrEqual(drawn.length);
  expect(names).not.toContain("p99.9");
  const with_interval = drawn.flatMap(({ percentiles: of }) =>
    ["p50", "p90", "p99"].filter((share) => of[`${share}_low`] !== undefined),
  );
  await expect(figure.locator("g[data-mark=link] > *")).toHaveCount(with_interval.length);
  expect(with_interval.length).toBeGreaterThan(0);
  // Rows without a figure stand there with their words, in the order of the host.
  await expect(figure.locator("svg text", { hasText: /^unsupported: overloaded/ })).toHaveCount(1);
  await expect(figure.locator("svg text", { hasText: /^unsupported: this row cannot run here/ })).toHaveCount(1);
  const rows = await cells(page, "percentiles-wakeup-batch");
  expect(rows.map((row) => row[0])).toEqual(results.map((row) => row.label));
  const told = ({ percentiles: of }: Waits["results"][number], share: string): string => {
    const [value, low, high] = [of[share], of[`${share}_low`], of[`${share}_high`]];
    if (value === undefined) return "–";
    return low === undefined ? duration(value) : `${duration(value)} (${duration(low)} – ${duration(high!)})`;
  };
  expect(rows.map((row) => row.slice(1, 5))).toEqual(
    results.map((row) => ["p50", "p90", "p99", "longest"].map((share) => told(row, share))),
  );
  expect(rows.map((row) => row.at(-1))).toEqual(results.map((row) => row.verdict));
  // For whom its tasks waited, and why it has no figure, is one click away.
  await figure.locator(".caveats summary").click();
  const notes = await figure.locator(".caveats li").allTextContents();
  const traced = drawn.flatMap((row) => row.notes.filter((note) => /^of [\d,]+ traced waits/.test(note)));
  expect(traced.length).toBeGreaterThan(0);
  for (const text of [...traced, ...missing.map((row) => row.reason)]) {
    expect(notes.filter((note) => note.includes(text)).length, text).toBe(1);
    await expect(figure.locator(".caveats li", { hasText: text }).first()).toBeVisible();
  }
  // A click says what a row is.
  const label = figure.locator("svg text", { hasText: "thread/futex" }).first();
  await label.scrollIntoViewIfNeeded();
  const box = (await label.boundingBox())!;
  await page.mouse.click(box.x + 5, box.y + box.height / 2);
  await expect(page.locator("#panel-title")).toHaveText(/^thread\/futex/);
  await page.keyboard.press("Escape");
  // Filters that leave only rows without figures leave their words.
  await go(page, "view=percentiles&text=class");
  await expect(paths).toHaveCount(0);
  await expect(figure.locator("svg text", { hasText: /^unsupported:/ })).toHaveCount(2);
  await go(page, "view=percentiles&text=nothing-has-this");
  await expect(page.locator(".nothing")).toHaveCount(1);
  expect(wrong).toEqual([]);
});

test("single units are drawn with p99.9 where it is carried", async ({ page }) => {
  const wrong = await open(page, "several");
  const { runs } = dataOf(readFileSync(pageFile("several"), "utf8"));
  const { run, results } = runs.find((one) => one.source === "timer.jsonl")!;
  await go(page, `view=percentiles&run=${run.id}`);
  const figure = page.locator("#percentiles-switch-each");
  const each = results.filter((row) => row.timing === "each");
  await expect(figure.locator("tbody tr:not(.under)")).toHaveCount(each.length);
  const drawn = each.filter((row) => row.median !== null);
  await expect(figure.locator("g[data-mark=histogram] path")).toHaveCount(drawn.length);
  await expect(figure.locator("g[data-mark=dot] > *")).toHaveCount(4 * drawn.length);
  await expect(figure.locator("svg")).toContainText("p99.9");
  expect(wrong).toEqual([]);
});

test("histograms of rows that failed a check are pale, and are saved with the rest", async ({ page }) => {
  await changed(page, "waits", ({ runs }) =>
    Object.assign(runs[0]!.results[0]!, { verdict: "contradicted", reason: "made up" }),
  );
  const figure = page.locator("#percentiles-wakeup-batch");
  await expect(figure.locator("svg text", { hasText: /contradictedThe evidence/ })).toHaveCount(1);
  const opacity = (nth: number) =>
    figure.locator("g[data-mark=histogram] path").nth(nth).getAttribute("fill-opacity").then(Number);
  expect(await opacity(0)).toBeLessThan(await opacity(1));
  await expect(figure.locator(".caveats li").first()).toContainText("contradicted: made up");
  const [svg] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#percentiles-wakeup-batch-svg").click(),
  ]);
  const drawn = readFileSync((await svg.path())!, "utf8");
  expect(drawn).not.toMatch(/var\(|url\((?!#)/);
  for (const word of ["p50", "p99", "contradicted", "unsupported: overloaded", "How late a task wakes"])
    expect(drawn).toContain(word);
});

test("notes on rows are folded, and unfold on paper", async ({ page }) => {
  const { runs } = dataOf(readFileSync(pageFile("several"), "utf8"));
  const { run } = runs.find((one) => one.source === "timer.jsonl")!;
  await open(page, "several", `#view=percentiles&run=${run.id}`);
  await expect(page.locator(".caveats li").first()).not.toBeVisible();
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await expect(page.locator(".caveats li").first()).toBeVisible();
});

test("axe finds nothing in small histograms", async ({ page, colorScheme }) => {
  await open(page, "waits", `#view=all&theme=${colorScheme}`);
  await expect(page.locator("html")).toHaveAttribute("data-theme", String(colorScheme));
  expect(await axe(page)).toEqual([]);
});
