/** Pages as a browser shows them. */

import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import type { PageData } from "../../src/data";
import { dataOf, pageFile, withData } from "./fixtures";

/** Opens a page, waits until it is drawn (its data are unpacked after it is loaded), and gives what it did wrong: errors on the console, uncaught exceptions, requests. */
export async function open(page: Page, name: string, fragment = ""): Promise<string[]> {
  const wrong: string[] = [];
  page.on("console", (message) => void (["error", "warning"].includes(message.type()) && wrong.push(message.text())));
  page.on("pageerror", (error) => void wrong.push(String(error)));
  const own = `file://${pageFile(name)}`;
  await page.route("**/*", (route) => {
    const url = route.request().url();
    if (url.split("#")[0] === own || url.startsWith("data:")) return route.continue();
    wrong.push(`request of ${url}`);
    return route.abort();
  });
  await page.goto(`${own}${fragment}`);
  await expect(page.locator("main > *").first()).toBeAttached();
  return wrong;
}

/** Goes to another view, and waits until it is drawn: by the page's own listener, which was there first. */
export const go = async (page: Page, fragment: string): Promise<void> =>
  page.evaluate(
    (fragment) =>
      new Promise<void>((drawn) => {
        addEventListener("hashchange", () => drawn(), { once: true });
        const before = location.hash;
        location.hash = fragment;
        if (location.hash === before) drawn();
      }),
    fragment,
  );

/** Shows a page whose data are changed, in the same template, and waits until it is drawn. */
export async function changed(
  page: Page,
  name: string,
  change: (data: PageData) => void,
  fragment = "",
): Promise<PageData> {
  const text = readFileSync(pageFile(name), "utf8");
  const data = dataOf(text);
  change(data);
  const body = withData(text, data);
  await page.route("**/changed.html*", (route) => route.fulfill({ body, contentType: "text/html" }));
  await page.goto(`http://page.test/changed.html${fragment}`);
  await expect(page.locator("main > *").first()).toBeAttached();
  return data;
}

/** What stands in the table of a figure, without what is told under its rows. */
export const cells = async (page: Page, figure: string): Promise<string[][]> =>
  page
    .locator(`figure[id="${figure}"] tbody tr:not(.under)`)
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));

/** What axe finds. */
export async function axe(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.map((violation) => `${violation.id}: ${violation.nodes[0]?.html}`);
}

/** Labels of a picture that lie on one another, by more than their margins. */
export const collisions = (page: Page, figure: string): Promise<string[]> =>
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
