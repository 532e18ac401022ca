import { expect, test } from "@playwright/test";
import type { Row } from "../../src/data";
import { parts, shared, without } from "../../src/views/common";

const rows = (...labels: string[]): Row[] => labels.map((label) => ({ label }) as Row);

test("what stands in parentheses at a label's end is one part", () => {
  expect(parts("process/pipe free (200 in a row)")).toEqual(["process/pipe", "free", "(200 in a row)"]);
  expect(parts("container/sandbox-pipe (runsc, two_cpus)")).toEqual(["container/sandbox-pipe", "(runsc, two_cpus)"]);
  expect(parts("stack/asm working_set=4096")).toEqual(["stack/asm", "working_set=4096"]);
  const lengths = rows("process/pipe (200 in a row)", "process/pipe free (20 in a row)");
  expect(shared(lengths)).toEqual([]);
  expect(without(lengths[1]!.label, shared(lengths))).toBe("process/pipe free (20 in a row)");
  const alike = rows("a/b free (20 in a row)", "a/c free (20 in a row)");
  expect(shared(alike)).toEqual(["free", "(20 in a row)"]);
  expect(without(alike[0]!.label, shared(alike))).toBe("a/b");
  expect(shared(rows("a/b free"))).toEqual([]);
});
