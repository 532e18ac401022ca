/**
 * The page as it is seen: each panel at two widths, by day and by night, by the pixels of a shot and by where its labels lie.
 *
 * No picture is kept to compare with: which pixels a text takes depends on the fonts of the machine, and a bound wide enough for other fonts would pass
 * a label that lies on another. The shots stay in test-results, to be looked at.
 */

import { expect, test, type Page } from "@playwright/test";
import { go, open } from "./opened";

/** Each panel, and the page that has data for it. */
const PANELS: Record<string, string[]> = {
  several: ["ladder", "distribution", "evidence", "compare", "rounds", "placement", "history", "machines", "machine"],
  sweeps: ["curves", "pairs"],
  connections: ["memory", "life", "curves"],
  waits: ["percentiles"],
  latency: ["percentiles"],
  ordinary: ["explain"],
  strangers: ["machines", "compare"],
  audited: ["audit"],
};

/** Pixels that two labels may share: a box of text has room above and below its letters. */
const SHARED = 3;

/** Least contrast of text that WCAG asks for, of ordinary size. */
const CONTRAST = 4.5;

interface Label {
  text: string;
  box: { left: number; right: number; top: number; bottom: number };
}

/** What lies where it must not: labels of a chart on one another, and anything beside the viewport that cannot be scrolled to. */
async function misplaced(page: Page): Promise<string[]> {
  return page.evaluate((shared) => {
    const wrong: string[] = [];
    const reachable = (element: Element): boolean => {
      for (let parent = element.parentElement; parent; parent = parent.parentElement)
        if (["auto", "scroll"].includes(getComputedStyle(parent).overflowX)) return true;
      return false;
    };
    const seen = (box: DOMRect): boolean => box.width > 1 && box.height > 1;
    for (const element of document.querySelectorAll("body *:not(svg *, .hidden, .hidden *, .skip)")) {
      const box = element.getBoundingClientRect();
      if (seen(box) && (box.left < -0.5 || box.right > innerWidth + 0.5) && !reachable(element))
        wrong.push(`${element.tagName} ${element.id} lies beside the viewport: ${box.left} – ${box.right}`);
    }
    for (const chart of document.querySelectorAll(".picture svg")) {
      const whole = chart.getBoundingClientRect();
      const labels = [...chart.querySelectorAll("text")]
        .map((text) => ({ words: text.textContent ?? "", box: text.getBoundingClientRect() }))
        .filter(({ words, box }) => words.trim() !== "" && seen(box));
      const name = chart.closest("figure")?.id ?? "";
      labels.forEach(({ words, box }, i) => {
        if (box.left < whole.left - 1 || box.right > whole.right + 1) wrong.push(`${name}: "${words}" is cut`);
        for (const other of labels.slice(i + 1)) {
          const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
          const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
          if (across > 1 && down > shared) wrong.push(`${name}: "${words}" lies on "${other.words}"`);
        }
      });
    }
    return wrong;
  }, SHARED);
}

/** Every piece of text that is seen, where it stands on the page. */
async function labels(page: Page): Promise<Label[]> {
  return page.evaluate(() => {
    const found: Label[] = [];
    // What a list that scrolls holds further down is not seen.
    const cut = (element: Element, { top, bottom, left, right }: DOMRect): boolean => {
      for (let parent: Element | null = element; parent; parent = parent.parentElement) {
        if (parent === document.body || getComputedStyle(parent).overflow === "visible") continue;
        const box = parent.getBoundingClientRect();
        if (top < box.top || bottom > box.bottom || left < box.left || right > box.right) return true;
      }
      return false;
    };
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
      const node = words.currentNode as Text;
      const parent = node.parentElement!;
      if (!node.data.trim() || parent.closest(".hidden, .skip, script, style, :disabled, title, option")) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        const { left, right, top, bottom } = rect;
        if (right - left < 2 || bottom - top < 2 || left < 0 || right > innerWidth || cut(parent, rect)) continue;
        if (!parent.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
        const box = { left, right, top: top + scrollY, bottom: bottom + scrollY };
        found.push({ text: node.data.trim().slice(0, 40), box });
      }
    }
    return found;
  });
}

/** What the pixels of a shot say: its number of colours, and the texts that hardly stand out from what is behind them. */
async function pixels(blank: Page, shot: Buffer, texts: Label[], scale: number) {
  return blank.evaluate(
    async ({ data, texts, scale, least }) => {
      const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d", { willReadFrequently: true })!;
      canvas.drawImage(bitmap, 0, 0);
      const channel = (value: number): number =>
        value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4;
      const bright = (colour: number): number =>
        0.2126 * channel(colour >> 16) + 0.7152 * channel((colour >> 8) & 255) + 0.0722 * channel(colour & 255);
      const colours = (left: number, top: number, width: number, height: number): Map<number, number> => {
        const counts = new Map<number, number>();
        const { data } = canvas.getImageData(left, top, Math.max(1, width), Math.max(1, height));
        for (let i = 0; i < data.length; i += 4) {
          const colour = (data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!;
          counts.set(colour, (counts.get(colour) ?? 0) + 1);
        }
        return counts;
      };
      const faint: string[] = [];
      for (const { text, box } of texts) {
        const [left, top] = [Math.floor(box.left * scale), Math.floor(box.top * scale)];
        if (top + 1 > bitmap.height) continue;
        const counts = colours(
          left,
          top,
          Math.ceil((box.right - box.left) * scale),
          Math.ceil((box.bottom - box.top) * scale),
        );
        const [behind] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most));
        const contrast = (colour: number): number => {
          const [low, high] = [bright(colour), bright(behind)].sort((a, b) => a - b);
          return (high! + 0.05) / (low! + 0.05);
        };
        const strongest = Math.max(...[...counts.keys()].map(contrast));
        if (strongest < least) faint.push(`"${text}": ${strongest.toFixed(1)}`);
      }
      const all = colours(0, 0, bitmap.width, bitmap.height);
      const ground = Math.max(...all.values()) / (bitmap.width * bitmap.height);
      return { colours: all.size, ground, width: bitmap.width, faint };
    },
    { data: shot.toString("base64"), texts, scale, least: CONTRAST },
  );
}

/** Width and theme of a shot. Labels do not move with the theme, nor colours with the width: the gate takes each once, suite `page` all. */
const SHOTS: [number, "light" | "dark"][] = [
  [360, "dark"],
  [1280, "light"],
];
const MORE: typeof SHOTS = [
  [360, "light"],
  [1280, "dark"],
];

for (const [width, theme] of process.env["SWITCHCOST_PAGES"] === "full" ? [...SHOTS, ...MORE] : SHOTS)
  test.describe(`${width} pixels, ${theme}`, () => {
    const scale = 2;
    test.use({ viewport: { width, height: 900 }, colorScheme: theme, deviceScaleFactor: scale });
    for (const [name, views] of Object.entries(PANELS))
      test(`${name}: nothing is blank, faint, cut, or lies on anything else`, async ({ page, context }, info) => {
        const wrong = await open(page, name);
        const blank = await context.newPage();
        for (const view of views) {
          await go(page, `view=${view}`);
          await expect(page.locator(`#view-${view}`)).toBeVisible();
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          expect(over, `${view} is wider than the viewport`).toBeLessThanOrEqual(0);
          expect.soft(await misplaced(page), view).toEqual([]);
          const texts = await labels(page);
          expect(texts.length, view).toBeGreaterThan(10);
          const shot = await page.screenshot({ fullPage: true, path: info.outputPath(`${view}.png`) });
          const seen = await pixels(blank, shot, texts, scale);
          expect(seen.width, view).toBe(width * scale);
          expect(seen.colours, `${view} is blank`).toBeGreaterThan(50);
          expect(seen.ground, `${view} is blank`).toBeLessThan(0.98);
          expect.soft(seen.faint, `${view}: texts that hardly stand out`).toEqual([]);
        }
        expect(wrong).toEqual([]);
      });
  });
