import { expect, test } from "@playwright/test";
import { readFileSync, statSync } from "node:fs";
import type { PageData } from "../../src/data";
import { amount, BYTES, digits, duration, type Quantity, TIME, tick } from "../../src/format";
import { dataOf, pageFile, ROWS, shownFile } from "./fixtures";
import { axe, cells, changed, go, open } from "./opened";

const VIEWS = [
  "ladder",
  "percentiles",
  "distribution",
  "evidence",
  "compare",
  "curves",
  "pairs",
  "rounds",
  "life",
  "placement",
  "memory",
  "history",
  "explain",
  "audit",
  "machines",
  "machine",
];

for (const name of ["ordinary", "several", "sweeps", "waits", "hostile", "grid", "thousands", "many"]) {
  test(`${name}: every view is drawn, without an error, a request or a scroll bar`, async ({ page }) => {
    const wrong = await open(page, name);
    for (const view of VIEWS) {
      await go(page, `view=${view}`);
      await expect(page.locator(`#view-${view}`)).toBeVisible();
      expect(await page.locator("figure, .nothing, main section section").count(), view).toBeGreaterThan(0);
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
        `${view} is too wide`,
      ).toBeLessThanOrEqual(0);
    }
    expect(wrong).toEqual([]);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(await page.locator("img, iframe, object, svg[onload], main script").count()).toBe(0);
  });
}

test("each figure has a picture, a caption, its command, its n and a table", async ({ page }) => {
  await open(page, "ordinary");
  for (const view of ["ladder", "distribution", "compare", "rounds"]) {
    await go(page, `view=${view}`);
    await expect(page.locator(`#view-${view} figure`).first()).toBeVisible();
    for (const figure of await page.locator("figure").all()) {
      expect(await figure.locator(".picture [role=img]").getAttribute("aria-label")).toBeTruthy();
      await expect(figure.locator(".made")).toContainText("n: ");
      await expect(figure.locator(".made code")).toContainText("switchcost");
      expect(await figure.locator("tbody tr").count(), view).toBeGreaterThan(1);
    }
  }
});

test("the ladder has a mark for each row, and what others published where it is asked for", async ({ page }) => {
  await open(page, "ordinary");
  await expect(page.locator(".literature")).toHaveCount(0);
  await page.locator("#published-switch").check();
  expect(new URL(page.url()).hash).toContain("published=shown");
  const rows = await page.locator("#ladder-switch tbody th").count();
  expect(rows).toBe(29);
  // A row with modes has a mark for each of them instead of one.
  const mixed = await page.locator("#ladder-switch svg text", { hasText: / or / }).count();
  const marks = page.locator("#ladder-switch g[data-mark=dot]");
  expect(mixed).toBeGreaterThan(0);
  expect(await marks.last().locator("path, circle").count()).toBe(rows - mixed);
  expect(await marks.nth(-2).locator("path, circle").count()).toBeGreaterThanOrEqual(2 * mixed);
  expect(await page.locator("#ladder-switch g[data-mark=dot]").first().locator("path, circle").count()).toBeGreaterThan(
    10,
  );
  // Author, year and machine without pointing at anything, by numbers that stand beside the marks.
  const list = page.locator("#ladder-switch .literature li");
  const cited = await list.count();
  expect(cited).toBeGreaterThan(10);
  await expect(list.filter({ hasText: /^Bendersky 2018, .*: Intel i7-4771/ })).toHaveCount(2);
  const numbers = (await page.locator("#ladder-switch svg text").allTextContents())
    .filter((text) => /^\d+(,\d+)*$/.test(text))
    .flatMap((text) => text.split(","));
  expect(new Set(numbers).size).toBe(cited);
});

test("every picture is saved as a file that needs nothing else", async ({ page }) => {
  const wrong = await open(page, "ordinary");
  for (const view of ["ladder", "distribution", "compare", "rounds"]) {
    await go(page, `view=${view}`);
    for (const button of await page.locator(`#view-${view} figure:has(.picture svg) .saving button[id$=-svg]`).all()) {
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      const text = readFileSync((await download.path())!, "utf8");
      const { faulty, title, marks, label } = await page.evaluate((text) => {
        const file = new DOMParser().parseFromString(text, "image/svg+xml");
        const all = [...file.querySelectorAll("*")];
        const values = all.flatMap((element) =>
          [...element.attributes].filter((a) => a.name !== "xmlns").map((a) => a.value),
        );
        return {
          faulty:
            [...file.querySelectorAll("parsererror, script, style, image, foreignObject, use[href^=http]")].length +
            values.filter((value) => /var\(|url\((?!#)|https?:/.test(value)).length,
          title: file.querySelector("title")?.textContent,
          marks: file.querySelectorAll("path, circle, rect, line").length,
          label: file.documentElement.getAttribute("aria-labelledby"),
        };
      }, text);
      expect(faulty, `${view}: ${text.slice(0, 2000)}`).toBe(0);
      expect(title).toBeTruthy();
      expect(label).toBe("title description");
      expect(marks, view).toBeGreaterThan(5);
    }
  }
  await go(page, "view=ladder");
  const [svg] = await Promise.all([page.waitForEvent("download"), page.locator("#ladder-switch-svg").click()]);
  expect(svg.suggestedFilename()).toBe("ladder-switch.svg");
  const drawn = readFileSync((await svg.path())!, "utf8");
  for (const word of ["thread/pipe", "Cost of a switch", "switchcost 0."]) expect(drawn).toContain(word);
  const [png] = await Promise.all([page.waitForEvent("download"), page.locator("#ladder-switch-png").click()]);
  const bytes = readFileSync((await png.path())!);
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  const size = Number(/ width="(\d+(\.\d+)?)"/.exec(drawn)![1]);
  expect(bytes.readUInt32BE(16)).toBe(Math.round(size * 2));
  // A blank picture of that size takes a few kilobytes.
  expect(bytes.length).toBeGreaterThan(20_000);
  expect(wrong).toEqual([]);
});

test("words are searched for, and with a minus left out", async ({ page }) => {
  await open(page, "ordinary", "#view=ladder&text=thread+-pipe");
  const labels = await page.locator("#ladder-switch tbody th").allTextContents();
  expect(labels.length).toBeGreaterThan(1);
  expect(labels.every((label) => label.includes("thread") && !label.includes("pipe"))).toBe(true);
});

test("a click on a row says what it is, and makes it the reference where that is asked for", async ({ page }) => {
  const wrong = await open(page, "ordinary");
  const label = page.locator("#ladder-switch svg text", { hasText: /^stack\/asm/ }).first();
  await label.scrollIntoViewIfNeeded();
  const box = (await label.boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const panel = page.locator("#panel");
  await expect(page.locator("#panel-title")).toBeFocused();
  for (const words of ["stack/asm", "per switch", "95 % interval", "One unit", "Includes", "verified", "process runs"])
    await expect(panel).toContainText(words);
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
  await page.goBack();
  await page.locator("#panel-compare").click();
  await expect(panel).toHaveCount(0);
  await expect(page.locator("#against-switch")).toHaveValue("stack/asm");
  expect(new URL(page.url()).hash).toContain("against=stack%2Fasm");
  await expect(page.locator("#ladder-switch tbody tr", { hasText: "stack/asm" }).first()).toContainText("1×");
  expect(wrong).toEqual([]);
});

test("the answer stands first, and only views that have something are offered", async ({ page }) => {
  await open(page, "ordinary");
  const answers = await page.locator(".answers li").allTextContents();
  expect(answers.length).toBeGreaterThanOrEqual(4);
  expect(answers.some((text) => /^thread\/futex.* [nµ]s/.test(text))).toBe(true);
  expect(answers.some((text) => /^fiber\/goroutine.*ns.*× cheaper/.test(text))).toBe(true);
  await expect(page.locator("#limits summary")).toHaveText(/wide intervals? · \d+ of 29 passed$/);
  const tabs = await page.locator("nav a").allTextContents();
  expect(tabs).toContain("Ladder");
  for (const empty of ["Curves", "CPU pairs", "Machines", "History", "Audit"]) expect(tabs).not.toContain(empty);
  await expect(page.locator("#more")).toContainText("switchcost sweep cpus PATTERN");
});

test("controls stand last, and a view of one row begins with one that somebody measured for", async ({ page }) => {
  const { run, results } = dataOf(readFileSync(pageFile("ordinary"), "utf8")).runs[0]!;
  await open(page, "ordinary");
  const controls = (await cells(page, "ladder-switch")).map(([label]) => label!.startsWith("control/"));
  expect(controls.indexOf(true)).toBe(results.filter((row) => !row.label.startsWith("control/")).length);
  expect(controls.slice(controls.indexOf(true)).every(Boolean)).toBe(true);
  for (const [view, chooser] of [
    ["distribution", "row-ecdf"],
    ["rounds", "row-rounds"],
  ] as const) {
    await go(page, `view=${view}`);
    await expect(page.locator(`#${chooser}`), view).toHaveValue(run.reference!);
  }
  await open(page, "goroutines", "#view=history");
  await expect(page.locator("#row-history")).toHaveValue(/^fiber\/goroutine/);
});

test("a page opens on the view that its runs were made for", async ({ page }) => {
  for (const [name, view] of [
    ["ordinary", "ladder"],
    ["sweeps", "curves"],
    ["waits", "percentiles"],
    ["two", "compare"],
    ["audited", "audit"],
    ["many", "machines"],
  ] as const) {
    await open(page, name);
    await expect(page.locator(`#view-${view}`), name).toBeVisible();
  }
  await open(page, "two", "#view=history");
  await expect(page.locator("#history tbody tr")).toHaveCount(2);
  await expect(page.locator("#run option").first()).toHaveText(/^Intel Xeon, 6\..* · 25 Nov, \d\d:\d\d · run/);
  await expect(page.locator("body")).not.toContainText("Host");
});

test("an answer of audit is drawn as it stands in its file", async ({ page }) => {
  const wrong = await open(page, "audited");
  await expect(page.locator("#audit-0 h3")).toHaveText("server loses 12 % of a CPU");
  await expect(page.locator("#audit-0 svg")).toContainText("wake idle");
  expect(await cells(page, "audit-0")).toEqual([
    ["worker", "7", "40,000", "0", "1.50 s", "10 %", "0, 1", "futex_wait"],
  ]);
  expect(wrong).toEqual([]);
});

test("filters narrow, and stand in the address", async ({ page }) => {
  await open(page, "ordinary");
  await page.evaluate(() => document.querySelector("#filters")!.setAttribute("open", ""));
  await page.getByRole("button", { name: "thread", exact: true }).click();
  await page.locator("#filter-placement").selectOption("free");
  await expect(page.locator("#ladder-switch tbody th")).toHaveCount(1);
  const address = page.url();
  await open(page, "ordinary");
  await page.goto(address);
  await page.reload();
  await expect(page.locator("#ladder-switch tbody th")).toHaveCount(1);
  await page.locator("#filter-none").click();
  await expect(page.locator("#ladder-switch tbody th")).toHaveCount(29);
  await page.goBack();
  await expect(page.locator("#ladder-switch tbody th")).toHaveCount(1);
});

test("verdict words are those of the host", async ({ page }) => {
  await open(page, "several", "#view=compare");
  await expect(page.locator("#compare")).toContainText("same within");
  await go(page, "view=compare&against=thread%2Ffutex");
  await expect(page.locator("#compare tbody tr", { hasText: "stack/ucontext" }).first()).toContainText("faster");
});

test("all can be done from the keyboard", async ({ page }) => {
  await open(page, "ordinary");
  await page.keyboard.press("Tab");
  await expect(page.locator("#skip")).toBeFocused();
  for (let i = 0; i < 40 && !(await page.evaluate(() => document.activeElement?.textContent === "Evidence")); i++)
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator("#view-evidence")).toBeVisible();
  await page.locator("#theme").focus();
  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).not.toBe(before);
  await expect(page.locator("#theme")).toBeFocused();
});

test("axe finds nothing: one theme in each project", async ({ page, colorScheme }) => {
  await open(page, "several", `#view=all&theme=${colorScheme}`);
  await expect(page.locator("html")).toHaveAttribute("data-theme", String(colorScheme));
  expect(await axe(page)).toEqual([]);
});

test("curves, CPU pairs, histograms, creation, memory and machines are drawn from runs of their own", async ({
  page,
}) => {
  const wrong = await open(page, "several");
  const { runs } = dataOf(readFileSync(pageFile("several"), "utf8"));
  const of = (name: string) => runs.find((run) => run.source === `${name}.jsonl`)!;
  const show = async (view: string, name: string): Promise<void> => go(page, `view=${view}&run=${of(name).run.id}`);
  await show("curves", "million-native");
  await expect(page.locator("#curve-switch-contexts svg")).toContainText("coroutine/cpp20");
  const points = of("million-native").curves.flatMap((curve) => curve.points).length;
  expect(points).toBeGreaterThan(30);
  expect(await page.locator("#curve-switch-contexts g[data-mark=dot] > *").count()).toBe(points);
  await show("curves", "swept");
  await expect(page.locator("#curve-footprint-contexts svg")).toContainText("stack/fcontext");
  await expect(page.locator("#curve-footprint-contexts svg")).toContainText("KiB");
  await expect(page.locator("figure[id=curve-switch-working_set] svg")).toContainText("control/touch");
  await show("pairs", "swept");
  // Every pair of two CPUs: one cell, and a mirrored one off the diagonal.
  expect(await page.locator("#view-pairs tbody tr").count()).toBe(3);
  expect(await page.locator("#view-pairs g[data-mark=cell] rect").count()).toBe(4);
  await show("distribution", "timer");
  await expect(page.locator("#each-time svg")).toBeVisible();
  await show("ladder", "isolation-make");
  await expect(page.locator("#ladder-footprint svg")).toContainText("KiB");
  await show(`compare&against=${encodeURIComponent("thread/pthread footprint contexts=1000")}`, "isolation-make");
  await expect(page.locator("#compare tbody").first()).toContainText("KiB");
  await expect(page.locator("#compare tbody").first()).toContainText("larger");
  await show("life", "isolation-make");
  for (const title of ["Create, enter once, destroy", "Memory of a live context"])
    await expect(page.locator("#life")).toContainText(title);
  await go(page, "view=machines");
  await expect(page.locator("#machines-time svg").first()).toBeVisible();
  expect(wrong).toEqual([]);
});

interface Shown {
  run: { id: string };
  curves: {
    mechanism: string;
    experiment: string;
    label: string;
    axis: string;
    control: string | null;
    points: {
      x: number;
      median: number;
      low: number | null;
      high: number | null;
      parts: {
        control: number;
        direct: number;
        indirect: number | null;
        low: number | null;
        high: number | null;
        resolved: boolean;
      } | null;
    }[];
  }[];
  matrices: {
    label: string;
    cells: {
      a: number;
      b: number;
      relation: string | null;
      verdict: string;
      median: number | null;
      low: number | null;
      high: number | null;
    }[];
  }[];
}

/** Both ends of an interval as the page writes them. */
const between = ({ low, high }: { low: number | null; high: number | null }, quantity: Quantity): string =>
  low === null ? "–" : `${amount(low, quantity)} – ${amount(high, quantity)}`;

/** The rows of a table of curves, out of the host's JSON: those of controls stand with the curves that they serve. */
function told(shown: Shown, axis: string, experiment: string): string[][] {
  const all = shown.curves.filter((curve) => curve.axis === axis && curve.experiment === experiment);
  const split = all.filter((curve) => curve.points.some((point) => point.parts));
  const quantity = experiment === "footprint" ? BYTES : TIME;
  return all
    .filter((curve) => !split.some((other) => other.control === curve.mechanism))
    .flatMap((curve) =>
      curve.points.map((point) => {
        const { parts } = point;
        const x = axis === "working_set" ? tick(point.x, BYTES) : digits(point.x).replace(/\.0+$/, "");
        const rest = parts
          ? [
              amount(parts.control, quantity),
              amount(parts.direct, quantity),
              amount(parts.indirect, quantity),
              between(parts, quantity),
              parts.resolved ? "" : "not resolved",
            ]
          : ["–", "–", "–", "–", ""];
        return [
          curve.label,
          x,
          amount(point.median, quantity),
          between(point, quantity),
          ...(split.length > 0 ? rest : []),
        ];
      }),
    );
}

for (const [file, name] of [
  ["sweeps", "sweeps"],
  ["several", "million-native"],
] as const) {
  test(`${name}: the tables of curves and CPU pairs are the host's JSON, number by number`, async ({ page }) => {
    const shown = JSON.parse(readFileSync(shownFile(name), "utf8")) as Shown;
    const wrong = await open(page, file, `#view=curves&run=${shown.run.id}`);
    for (const { axis, experiment } of shown.curves) {
      const expected = told(shown, axis, experiment);
      expect(expected.length).toBeGreaterThan(2);
      expect(await cells(page, `curve-${experiment}-${axis}`)).toEqual(expected);
    }
    await go(page, `view=pairs&run=${shown.run.id}`);
    for (const { label, cells: all } of shown.matrices) {
      await expect(page.locator("#view-pairs")).toBeVisible();
      const expected = all.map((cell) => [
        String(cell.a),
        String(cell.b),
        cell.relation ?? "unknown",
        duration(cell.median),
        between(cell, TIME),
        cell.verdict,
      ]);
      expect(await cells(page, `pairs-${label.replace(/\W/g, "-")}`)).toEqual(expected);
    }
    // The data of the page, where nothing is rounded yet.
    const mine = dataOf(readFileSync(pageFile(file), "utf8")).runs.find((one) => one.run.id === shown.run.id)!;
    expect([mine.curves, mine.matrices]).toEqual([shown.curves, shown.matrices]);
    expect(wrong).toEqual([]);
  });
}

test("what is below 0 or not resolved stands in the table and not in the picture", async ({ page }) => {
  await open(page, "sweeps", "#view=curves");
  const rows = await cells(page, "curve-switch-working_set");
  expect(rows.map((row) => row.at(-1))).toEqual(["", "not resolved", "", ""]);
  expect(rows[2]![6]).toMatch(/^-/);
  // Four of the curve, three of the control, one of the indirect cost.
  expect(await page.locator("figure[id=curve-switch-working_set] g[data-mark=dot] > *").count()).toBe(8);
  // A filter takes rows away and changes no number of those that are left.
  await go(page, "view=curves&text=working_set%3D65536");
  await expect(page.locator("#view-curves figure")).toHaveCount(1);
  expect(await cells(page, "curve-switch-working_set")).toEqual([rows[3]]);
});

test("memory is the figure of the host, with its interval", async ({ page }) => {
  await open(page, "sweeps", "#view=ladder&experiment=footprint");
  const [curve] = (JSON.parse(readFileSync(shownFile("sweeps"), "utf8")) as Shown).curves.filter(
    (curve) => curve.experiment === "footprint",
  );
  // A unit that both ends share is written once.
  const once = (text: string) => text.replace(/^(\S+) (\S+) – (\S+) \2$/, "$1 – $3 $2");
  const expected = curve!.points.map((point) => [
    `${amount(point.median, BYTES)} per context`,
    once(between(point, BYTES)),
  ]);
  expect((await cells(page, "ladder-footprint")).map((row) => row.slice(2, 4))).toEqual(expected);
});

test("contradicted and broken rows stand there with their words", async ({ page }) => {
  await open(page, "thousands", "#view=ladder&families=control&page=10");
  await expect(page.locator("#ladder-switch svg")).toContainText("contradicted:");
  await expect(page.locator("#ladder-switch svg")).toContainText("broken:");
  await expect(page.locator(".pager").first()).toContainText(`of ${ROWS / 2}`);
});

test("an ordinary page is small", () => {
  expect(statSync(pageFile("ordinary")).size).toBeLessThan(400_000);
});

test("paper gets the view that is shown, and its tables", async ({ page }) => {
  await open(page, "ordinary", "#view=ladder");
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await expect(page.locator("main > section")).toHaveCount(1);
  await expect(page.locator("#ladder-switch table")).toBeVisible();
  for (const hidden of ["nav", "#filters", ".under", "#more"])
    await expect(page.locator(hidden).first()).not.toBeVisible();
});

test("the map of a machine of four CPUs is drawn", async ({ page }) => {
  const wrong: string[] = [];
  page.on("pageerror", (error) => void wrong.push(String(error)));
  // The machine that tests may have fewer: what a sweep gives there.
  const cpus = [0, 1, 2, 3];
  const pairs = cpus.flatMap((a) => cpus.filter((b) => b > a).map((b) => [a, b] as const));
  const map = ({ runs }: PageData): void => {
    const run = runs[0]!;
    const cell = ([a, b]: readonly [number, number], i: number) => ({
      a,
      b,
      result: run.results[20 + i]!.label,
      relation: i % 2 ? "same_cache" : "smt_sibling",
      verdict: "verified",
      median: 1000 + i,
      low: null,
      high: null,
    });
    run.matrices = [
      { label: "thread/y", mechanism: "thread/y", experiment: "switch", probe: "p", cpus, cells: pairs.map(cell) },
    ];
  };
  await changed(page, "ordinary", map, "#view=pairs");
  expect(await page.locator("#view-pairs g[data-mark=cell] rect").count()).toBe(2 * pairs.length);
  expect(wrong).toEqual([]);
});
