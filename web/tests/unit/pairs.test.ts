import { expect, test } from "@playwright/test";
import type { Literature } from "../../src/data";
import { author } from "../../src/literature";
import { ordered } from "../../src/views/pairs";

test("siblings stand beside one another, then those that share a cache, then a socket", () => {
  // Two sockets of two cores with two threads each: the kernel numbers siblings far apart.
  const relation = (a: number, b: number): string =>
    a % 4 === b % 4 ? "smt_sibling" : a % 2 === b % 2 ? "same_cache" : "cross_socket";
  const cpus = [0, 1, 2, 3, 4, 5, 6, 7];
  const cells = cpus.flatMap((a) => cpus.filter((b) => b > a).map((b) => ({ a, b, relation: relation(a, b) })));
  expect(ordered(cells).map(({ cpu }) => cpu)).toEqual([0, 4, 2, 6, 1, 5, 3, 7]);
  expect(ordered([{ a: 3, b: 1, relation: null }]).map(({ cpu }) => cpu)).toEqual([1, 3]);
});

test("published figures are named by their authors", () => {
  const of = (source: string, year: number | null): string => author({ source, year, name: "x" } as Literature);
  expect(of("E. Bendersky, Measuring context switching and memory overheads for Linux threads", 2018)).toBe(
    "Bendersky 2018",
  );
  expect(of("Li, Ding and Shen, Quantifying the cost of context switch", 2007)).toBe("Li et al. 2007");
  expect(of("McVoy and Staelin, lmbench", 1996)).toBe("McVoy and Staelin 1996");
  expect(of("golang/go issue 18023", 2016)).toBe("golang/go 2016");
  expect(of("libaco README", null)).toBe("libaco README");
});
