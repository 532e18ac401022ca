/** What the page answers first, and what its pictures say without a table. */

import { expect, test } from "@playwright/test";
import { readFileSync } from "node:fs";
import { duration } from "../../src/format";
import { dataOf, EXAMPLE, pageFile, switchcost } from "./fixtures";
import { axe, cells, changed, collisions, go, open } from "./opened";

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

test("one sentence answers first, with the factors that their intervals carry", async ({ page }) => {
  const { results, run } = dataOf(readFileSync(pageFile("ordinary"), "utf8")).runs[0]!;
  await open(page, "ordinary");
  const sentence = await page.locator(".sentence").innerText();
  const reference = results.find((row) => row.label === run.reference)!;
  expect(sentence).toBe(
    switchcost("show", EXAMPLE)
      .match(/^(A .*\n?.* switches\.)$/m)![1]!
      .replace(/\s+/g, " "),
  );
  expect(sentence).toContain(`A ${reference.label} switch costs ${duration(reference.median)} here: as much as `);
  // The cards are the rows that the terminal chooses, by their names.
  expect(await page.locator(".answers .family").allTextContents()).toEqual(run.representatives);
  for (const text of await page.locator(".answers small").allTextContents()) expect(text).not.toMatch(/1\/|×0/);
  // A factor whose interval is wide stands in no sentence and on no card.
  const [label] = /[\w/-]+ or/.exec(sentence)![0].split(" ");
  await changed(page, "ordinary", (data) => {
    const row = data.runs[0]!.results.find((row) => row.label === label)!;
    row.times_reference_high = row.times_reference! * 1.2;
  });
  await expect(page.locator(".sentence")).not.toContainText(label!);
  await expect(page.locator(".answers li", { hasText: label! }).locator("small")).toHaveText("");
});

test("what limits the answer stands above it, and beside each row", async ({ page }) => {
  const wrong = await open(page, "busy");
  const { cautions } = dataOf(readFileSync(pageFile("busy"), "utf8")).runs[0]!;
  expect(cautions[0]).toMatch(/^Other programs disturbed 25 of 25 rows /);
  expect(await page.locator("header > .condition").allTextContents()).toEqual(cautions);
  for (const [view, id] of [
    ["ladder", "ladder-switch"],
    ["compare", "compare"],
  ] as const) {
    await go(page, `view=${view}`);
    const rows = await cells(page, id);
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) expect(row.at(-1), row[0]).toContain("disturbed");
    if (view === "ladder") expect(await page.locator(`#${id} svg`).first().textContent()).toContain("disturbed");
  }
  expect(wrong).toEqual([]);
});

test("each row of a comparison has its own noise floor, and titles tell A from B", async ({ page }) => {
  const data = dataOf(readFileSync(pageFile("goroutines"), "utf8"));
  const wrong = await open(page, "goroutines", "#view=compare");
  await expect(page.locator("#compare h3")).toHaveText("Ratio of costs: goroutine-3.jsonl against goroutine-2.jsonl");
  const names = await page.locator("#table option").allTextContents();
  const runs = await page.locator("#run option").allTextContents();
  for (const all of [names, runs]) expect(new Set(all).size).toBe(all.length);
  const table = data.tables.find((table) => table.reference === null)!;
  const floors = new Set(table.comparisons.map((one) => one.noise_floor));
  const bars = page.locator("#compare g[data-mark=link]").first().locator("path");
  await expect(bars).toHaveCount(table.comparisons.length);
  const widths = await bars.evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width.toFixed(1)));
  expect(new Set(widths).size).toBe(floors.size);
  expect(wrong).toEqual([]);
});

test("contexts are sorted by what the reader asks, each family within itself", async ({ page }) => {
  const wrong = await open(page, "connections", "#view=life");
  const names = (await cells(page, "life")).map((row) => row[0]!);
  await page.locator("#sort").selectOption("footprint");
  await expect.poll(() => page.evaluate(() => location.hash)).toContain("sort=footprint");
  const column = (await page.locator("#life thead th").allTextContents()).indexOf("memory");
  const rows = (await cells(page, "life")).map((row) => ({ name: row[0]!, memory: row[column]! }));
  expect(rows.map(({ name }) => name).sort()).toEqual([...names].sort());
  const bytes = (text: string): number => {
    const [, amount, unit] = /^([\d.,]+) (B|KiB|MiB)$/.exec(text) ?? [];
    return amount ? Number(amount.replaceAll(",", "")) * 1024 ** ["B", "KiB", "MiB"].indexOf(unit!) : Infinity;
  };
  const family = (name: string): string => name.split("/")[0]!;
  let compared = 0;
  for (const [i, { name, memory }] of rows.slice(1).entries()) {
    const before = rows[i]!;
    if (family(name) !== family(before.name)) continue;
    expect(bytes(memory), `${name} behind ${before.name}`).toBeGreaterThanOrEqual(bytes(before.memory));
    compared += 1;
  }
  expect(compared).toBeGreaterThan(4);
  const changes = rows.slice(1).filter(({ name }, i) => family(name) !== family(rows[i]!.name)).length;
  expect(changes).toBe(new Set(rows.map(({ name }) => family(name))).size - 1);
  expect(wrong).toEqual([]);
});

test("a row that nobody measured failed no check, and words stand over no bar", async ({ page }) => {
  const last = dataOf(readFileSync(pageFile("connections"), "utf8")).runs.at(-1)!.run.id;
  await open(page, "connections", `#view=evidence&run=${last}`);
  await expect(page.locator("#evidence h3")).toHaveText("Every measured row passed its checks");
  await expect(page.locator("#evidence .said li").first()).toContainText("unsupported: ");
  await expect(page.locator("#evidence svg")).toHaveCount(0);
  await changed(page, "connections", ({ runs }) => {
    const [seen, unseen] = runs.at(-1)!.results.filter((row) => row.verdict === "verified");
    Object.assign(seen!, { verdict: "contradicted", reason: "made up" });
    Object.assign(unseen!, { verdict: "unobservable", reason: "made up", kernel_switches: null });
  });
  await go(page, `view=evidence&run=${last}`);
  await expect(page.locator("#evidence h3")).toHaveText("Rows that failed a check");
  // A bar of what is expected, and a mark, where something was counted; words elsewhere.
  await expect(page.locator("#evidence g[data-mark=dot] > *")).toHaveCount(1);
  expect(await page.locator("#evidence g[data-mark=link] > *").count()).toBeLessThanOrEqual(1);
  expect(await collisions(page, "#evidence")).toEqual([]);
});

test("axes say which end is cheap, and words of verdicts say what they mean", async ({ page }) => {
  await open(page, "ordinary");
  for (const [view, figure] of [
    ["ladder", "ladder-switch"],
    ["distribution", "spread-time"],
    ["placement", "placement-time"],
    ["compare", "compare"],
  ] as const) {
    await go(page, `view=${view}`);
    for (const words of ["← cheaper", "more expensive →"])
      await expect(page.locator(`#${figure} svg text`, { hasText: words }), view).toHaveCount(1);
  }
  await expect(page.locator("#compare svg text title", { hasText: "It costs less" }).first()).toBeAttached();
  await go(page, "view=evidence");
  await expect(page.locator("#evidence td[title]", { hasText: "verified" }).first()).toHaveAttribute(
    "title",
    "Every check agrees that the claimed switches happened.",
  );
});

for (const width of [360, 1280])
  test(`at ${width} pixels no label lies on another, and axe finds nothing`, async ({ page, colorScheme }) => {
    await page.setViewportSize({ width, height: 900 });
    for (const [name, figures] of [
      ["ordinary", ["ladder-switch", "spread-time", "placement-time", "compare", "rounds"]],
      ["rows", ["ladder-switch", "spread-time", "placement-time", "compare"]],
      ["connections", ["memory", "life", "machines-time"]],
    ] as const) {
      await open(page, name, `#view=all&theme=${colorScheme}`);
      for (const figure of figures)
        if ((await page.locator(`#${figure}`).count()) > 0)
          expect(await collisions(page, `#${figure}`), `${name}: ${figure}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), name).toBeLessThanOrEqual(0);
    }
    expect(await axe(page)).toEqual([]);
  });

test("what was counted beside the time stands in the panel of its row, and why something was not", async ({ page }) => {
  const why = "cycles:u, cycles:k were not counted: this CPU has no such counter for programs";
  await changed(page, "ordinary", (data) => {
    const row = data.runs[0]!.results.find((row) => row.mechanism === "thread/futex")!;
    row.counters = {
      "instructions:u": { of: 1234.5 },
      "context-switches": { of: 1.0021 },
      "task-clock": { below: 0.14 },
      "cycles:u": { refused: { kind: "no_counter" } },
    };
    row.notes.push(why);
  });
  const panel = page.locator("#panel");
  for (const [mechanism, shown] of [
    ["thread/futex", 1],
    ["stack/asm", 0],
  ] as const) {
    const label = page.locator("#ladder-switch tbody th", { hasText: mechanism }).first();
    await go(page, `view=ladder&open=${encodeURIComponent((await label.textContent())!)}`);
    await expect(panel.locator("h2")).toContainText(mechanism);
    await expect(panel.locator("dt", { hasText: "Counted per switch" })).toHaveCount(shown);
  }
  await go(page, "view=ladder&open=thread%2Ffutex");
  await expect(panel).toContainText("instructions:u 1,235, context-switches 1.00, task-clock below 0.140 ns");
  await expect(panel).toContainText(why);
  await expect(panel).not.toContainText("NaN");
});
