import { defineConfig } from "@playwright/test";

const executablePath = process.env["SWITCHCOST_CHROMIUM"] ?? "/usr/bin/chromium";
// Chromium's sandbox needs rights that root in a container lacks; the pages are ours, from files.
const launchOptions = { executablePath, args: ["--no-sandbox"] };

export default defineConfig({
  testDir: "tests/page",
  outputDir: "test-results",
  globalSetup: "./tests/page/setup.ts",
  workers: 2,
  // A busy machine may take long to draw 200 runs; nothing here asserts how long.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  reporter: "line",
  use: { launchOptions },
  projects: [
    { name: "wide and light", use: { viewport: { width: 1600, height: 900 }, colorScheme: "light" } },
    { name: "narrow and dark", use: { viewport: { width: 360, height: 740 }, colorScheme: "dark" } },
  ],
});
