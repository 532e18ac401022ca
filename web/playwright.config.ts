import { defineConfig } from "@playwright/test";

const executablePath = process.env["SWITCHCOST_CHROMIUM"] ?? "/usr/bin/chromium";
// Chromium's sandbox needs rights that root in a container lacks; the pages are ours, from files.
const launchOptions = { executablePath, args: ["--no-sandbox"] };
const seen = "page/seen.spec.ts";
const inBrowser = { testMatch: "page/*.spec.ts", testIgnore: seen, dependencies: ["pages"] };
// What a test says of data holds at each width: the gate asks at one, and at the other for what has to do with room and colours.
const full = process.env["SWITCHCOST_PAGES"] === "full";
const ofNarrow = full
  ? {}
  : { grep: /every view is drawn|one theme in each|at 360 pixels|at 390 pixels|ticks|paper|keyboard|filters/ };
const ofWide = full ? {} : { grepInvert: /at 360 pixels/ };

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  workers: 2,
  // A busy machine may take long to draw 200 runs; nothing here asserts how long.
  timeout: 900_000,
  expect: { timeout: 180_000 },
  reporter: "line",
  use: { launchOptions },
  projects: [
    { name: "unit", testMatch: "unit/*.test.ts" },
    { name: "pages", testMatch: "page/setup.ts" },
    {
      name: "wide and light",
      ...inBrowser,
      ...ofWide,
      use: { viewport: { width: 1600, height: 900 }, colorScheme: "light" },
    },
    {
      name: "narrow and dark",
      ...inBrowser,
      ...ofNarrow,
      use: { viewport: { width: 360, height: 740 }, colorScheme: "dark" },
    },
    { name: "as it is seen", testMatch: seen, dependencies: ["pages"] },
  ],
});
