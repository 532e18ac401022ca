// Opens a page and saves one of its pictures, as a reader would: draw.js PAGE FRAGMENT FIGURE OUT
import { chromium } from "@playwright/test";

const [page, fragment, figure, out] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env["SWITCHCOST_CHROMIUM"], args: ["--no-sandbox"] });
try {
  const view = await browser.newPage({ viewport: { width: 880, height: 900 }, colorScheme: "light" });
  // Nothing here has to be quick: the machine may be busy.
  view.setDefaultTimeout(600_000);
  await view.goto(`file://${page}#${fragment}`);
  const kind = out.endsWith(".png") ? "png" : "svg";
  const [download] = await Promise.all([view.waitForEvent("download"), view.locator(`#${figure}-${kind}`).click()]);
  await download.saveAs(out);
} finally {
  await browser.close();
}
