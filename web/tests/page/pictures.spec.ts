/** Pictures that are read without their tables: layers, percentiles, curves, and names on a phone. */

import { expect, type Page, test } from "@playwright/test";
import { readFileSync } from "node:fs";
import { duration } from "../../src/format";
import { dataOf, pageFile } from "./fixtures";
import { cells, changed, collisions, go, open } from "./opened";

/** Boxes of what a selector finds. */
const boxes = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((all) =>
    all.map((one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      return { text: one.textContent ?? "", left, right, top, bottom };
    }),
  );

test("layers that exceed their whole say so, and stand last", async ({ page }) => {
  const { explained } = dataOf(readFileSync(pageFile("ordinary"), "utf8")).runs[0]!;
  const wrong = await open(page, "ordinary", "#view=explain");
  const figures = page.locator("#view-explain figure");
  await expect(figures).toHaveCount(explained.length);
  const below = explained.filter(({ residue }) => residue.ns < 0);
  expect(below.length).toBe(1);
  for (const [nth, figure] of (await figures.all()).entries()) {
    const title = await figure.locator("h3").innerText();
    const one = explained.find(({ mechanism }) => title === `What ${mechanism} is made of`)!;
    const sentence = await figure.locator(".sentence").innerText();
    if (one.residue.ns >= 0) {
      const share = Math.round(one.predicted_per_measured!.ratio * 100);
      expect(sentence).toBe(`The layers explain ${share} % of ${one.figure}.`);
      continue;
    }
    expect(nth).toBe(explained.length - 1);
    expect(sentence).toContain(`cost ${duration(-one.residue.ns)} more than ${one.mechanism} as a whole`);
    await expect(figure.locator("svg")).not.toContainText("unexplained rest");
    expect((await cells(page, `explain-${nth}`)).at(-1)![0]).toBe("less than its layers");
  }
  // No bar, and no end of an interval, reaches a figure.
  for (let nth = 0; nth < explained.length; nth++) {
    const bars = await boxes(page, `#explain-${nth} g[data-mark=link] path`);
    const right = Math.max(...bars.map((bar) => bar.right));
    const told = (await boxes(page, `#explain-${nth} svg text`)).filter(({ text }) => /\d (ns|µs)(  \d|$)/.test(text));
    const ends = told
      .filter(({ left }) => left > bars[0]!.left)
      .filter(({ text }) => !/^\d[\d.]* (ns|µs)$/.test(text) || text.includes("  "));
    for (const end of ends) if (page.viewportSize()!.width > 640) expect(end.left, end.text).toBeGreaterThan(right);
  }
  expect(wrong).toEqual([]);
});

test("a run of explain opens on the layers of what was asked", async ({ page }) => {
  for (const asked of ["thread/std-condvar", "stack/corosensei"]) {
    await changed(page, "ordinary", ({ runs }) => {
      runs[0]!.run.command = ["switchcost", "explain", asked, "--budget", "30s"];
    });
    await expect(page.locator("#view-explain h3").first()).toHaveText(`What ${asked} is made of`);
  }
});

test("a wake-up is earlier or later, and its ladder is not there twice", async ({ page }) => {
  await open(page, "latency");
  await expect(page.locator("#view-percentiles")).toBeVisible();
  expect(await page.locator("nav a").allTextContents()).not.toContain("Ladder");
  const texts = await page.locator("#percentiles-wakeup-batch svg text").allTextContents();
  expect(texts).toContain("← earlier");
  expect(texts).toContain("later →");
  expect(texts.join()).not.toContain("cheaper");
  // What is so of each row stands there once, folded.
  const notes = page.locator("#percentiles-wakeup-batch .caveats");
  expect(await notes.evaluate((details) => (details as HTMLDetailsElement).open)).toBe(false);
  // Two of the nine waited for nobody; of the others each has its own time.
  expect((await notes.textContent())!.split("tracefs is not mounted").length).toBe(8);
  await expect(notes.locator("summary")).toHaveText("Notes on 9 rows");
});

test("labels of ticks have room between them, and units", async ({ page }) => {
  for (const [name, view, figure] of [
    ["latency", "percentiles", "percentiles-wakeup-batch"],
    ["ordinary", "distribution", "spread-time"],
    ["ordinary", "compare", "compare"],
    ["strangers", "machines", "machines-time"],
  ] as const)
    for (const width of [390, 700, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await open(page, name, `#view=${view}`);
      const ticks = (await boxes(page, `#${figure} g[data-mark*="axis tick label"] text`)).filter(({ text }) => text);
      expect(ticks.length, figure).toBeGreaterThan(3);
      const [top] = ticks;
      const line = ticks.filter((tick) => tick.top === top!.top).sort((a, b) => a.left - b.left);
      for (const [i, tick] of line.entries()) {
        expect(tick.text).toMatch(view === "compare" ? /^[×÷]\d/ : /^[\d.]+ (ns|µs|ms|s)$/);
        const before = line[i - 1];
        if (before) expect(tick.left - before.right, `${figure} at ${width}: ${tick.text}`).toBeGreaterThan(5);
      }
    }
});

test("curves differ in colour, and their names stand in the order of their ends", async ({ page }) => {
  const { runs } = dataOf(readFileSync(pageFile("connections"), "utf8"));
  const run = runs.find((one) => one.source === "million-native.jsonl")!;
  await open(page, "connections", `#view=curves&run=${run.run.id}`);
  const figure = page.locator("#curve-switch-contexts");
  await expect(figure.locator("h3")).toHaveText("Cost of a switch by contexts");
  await expect(figure.locator("svg text", { hasText: "↑ time per switch" })).toHaveCount(1);
  const looks = await figure
    .locator("g[data-mark=line]")
    .evaluateAll((all) =>
      all.map((line) => [line.getAttribute("stroke"), line.getAttribute("stroke-dasharray")].join()),
    );
  expect(looks.length).toBe(run.curves.length);
  expect(new Set(looks).size).toBe(looks.length);
  expect(new Set(looks.map((look) => look.split(",")[0])).size).toBe(Math.min(8, looks.length));
  const wide = page.viewportSize()!.width > 640;
  const order = run.curves
    .map((curve, i) => ({ name: wide ? curve.label : String.fromCharCode(65 + i), end: curve.points.at(-1)!.median! }))
    .sort((a, b) => b.end - a.end);
  const dots = await boxes(page, "#curve-switch-contexts g[data-mark=dot]");
  const names = (await boxes(page, "#curve-switch-contexts svg > g > text")).filter(
    ({ text, left }) => order.some(({ name }) => name === text) && left >= dots[0]!.right,
  );
  const seen = names.sort((a, b) => a.top - b.top).map(({ text }) => text);
  expect(seen).toEqual(order.map(({ name }) => name));
  expect(await collisions(page, "#curve-switch-contexts")).toEqual([]);
});

test("at 390 pixels no name runs into a figure, however long", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 900 });
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await changed(page, "ordinary", (data) => {
      for (const { results } of data.runs)
        results.forEach((row, i) => {
          const label = `${row.mechanism} working_set=1048576 sched=batch two_cpus WW${i}`;
          for (const { comparisons } of data.tables)
            for (const one of comparisons) {
              if (one.a === row.label) one.a = label;
              if (one.b === row.label) one.b = label;
            }
          row.label = label;
        });
    });
    for (const [view, figure] of [
      ["ladder", "ladder-switch"],
      ["distribution", "spread-time"],
      ["rounds", "rounds"],
    ] as const) {
      await go(page, `view=${view}`);
      await expect(page.locator(`#${figure}`)).toBeVisible();
      expect(await collisions(page, `#${figure}`), view).toEqual([]);
      // A name ends before its figure, and has what tells it from others.
      const texts = await page.locator(`#${figure} svg g:not([data-mark*=axis]) > text`).evaluateAll((all) =>
        all.map((one) => ({
          text: [...one.childNodes]
            .filter((node) => node.nodeType === Node.TEXT_NODE)
            .map((node) => node.nodeValue)
            .join(""),
          top: one.getBoundingClientRect().top,
          left: one.getBoundingClientRect().left,
          right: one.getBoundingClientRect().right,
        })),
      );
      const names = texts.filter(({ text }) => /WW\d+$/.test(text));
      expect(new Set(names.map(({ text }) => text)).size, view).toBe(29);
      for (const name of names)
        for (const end of texts.filter((one) => Math.abs(one.top - name.top) < 4 && one.left > name.left))
          expect(end.left - name.right, `${name.text} | ${end.text}`).toBeGreaterThan(6);
    }
  }
});
