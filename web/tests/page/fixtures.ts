/** Run files made of the example, and pages made of run files by the real `switchcost`. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import type { PageData } from "../../src/data";

export const EXAMPLE = resolve("../data/example/ladder.jsonl");
/** Runs that were measured, for the views that need data of their own: creation and memory, and each switch timed. */
export const KEPT = ["isolation-make", "timer"];
export const kept = (name: string): string => resolve(`../data/example/answers/${name}.jsonl`);
/** A run whose units each have a figure, measured by `run --experiment wakeup` with hogs and classes; without its A/A pair. */
export const WAITS = resolve("tests/page/wakeup.jsonl");
export const SWITCHCOST = resolve(process.env["SWITCHCOST"] ?? "../target/release/switchcost");
export const FOLDER = resolve("test-results-pages");

/** Rows of the longest runs, and runs of the fullest page: as many as a run file may have, or what shows the same sooner. */
const full = process.env["SWITCHCOST_PAGES"] === "full";
export const ROWS = full ? 10_000 : 3000;
export const RUNS = full ? 200 : 20;

// oxlint-disable-next-line typescript/no-explicit-any -- the disk form is the host's business
export type Entry = any;

/** The records of the example, without the last, which is a checksum. */
export const example = (): Entry[] =>
  readFileSync(EXAMPLE, "utf8")
    .trim()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);

/** Writes records as a run file. */
export function runFile(name: string, records: Entry[]): string {
  const hash = createHash("sha256");
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  for (const line of lines) hash.update(line);
  const file = join(FOLDER, `${name}.jsonl`);
  writeFileSync(file, `${lines.join("")}{"t":"end","lines":${lines.length},"sha256":"${hash.digest("hex")}"}\n`);
  return file;
}

export function switchcost(...words: string[]): string {
  const env = { ...process.env, XDG_DATA_HOME: join(FOLDER, "data") };
  return execFileSync(SWITCHCOST, words, {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 28,
  });
}

export const pageFile = (name: string): string => join(FOLDER, `${name}.html`);

const DATA = /(<script type="text\/plain" id="data">)([^<]*)/;

const parts = (packed: string): Buffer[] => packed.split(",").map((part) => inflateSync(Buffer.from(part, "base64")));

/** The data of a page, as the host packed it. */
export const dataOf = (text: string): PageData =>
  JSON.parse(Buffer.concat(parts(DATA.exec(text)![2]!)).toString()) as PageData;

/** The same page with other data. */
export const withData = (text: string, data: unknown): string =>
  text.replace(DATA, (_, head: string) => head + deflateSync(JSON.stringify(data)).toString("base64"));

export const shownFile = (name: string): string => join(FOLDER, `${name}.shown.json`);

/** Keeps what `export --format json` says of a run file. */
export function shown(name: string, file: string): string {
  writeFileSync(shownFile(name), switchcost("export", file, "--format", "json"));
  return file;
}

export function page(name: string, ...files: string[]): string {
  switchcost("report", ...files, "-o", pageFile(name));
  return pageFile(name);
}

/** Text that would act if anything took it for markup. */
export const HOSTILE = `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">"'><svg onload=window.hacked=1>\u2028\${window.hacked=1}`;

/** Texts of a run file that are free; all others are words of the format. */
const FREE = new Set([
  "tool_version",
  "what",
  "effect",
  "cure",
  "why",
  "probe",
  "version",
  "runtime",
  "compiler",
  "flags",
  "name",
  "counter",
  "log",
  "fault",
  "source",
  "detail",
]);

/** Every free text of a record becomes hostile. */
export function poison(value: Entry, key = ""): Entry {
  if (typeof value === "string") return FREE.has(key) || key === "free" ? `${value} ${HOSTILE}` : value;
  if (Array.isArray(value)) return value.map((item) => poison(item, ["command", "notes"].includes(key) ? "free" : key));
  if (value === null || typeof value !== "object") return value;
  const maps = ["stable", "drifting", "personal", "parameters"].includes(key);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, poison(item, maps ? "free" : name)]));
}
