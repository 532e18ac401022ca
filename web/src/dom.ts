/** Elements. Strings become text nodes: there is no way here from data to markup. */

import { meaning } from "./verdicts";

type Value = string | number | boolean | undefined | ((event: Event) => void);
export type Child = Node | string | null | undefined | false;

/** An element with attributes (`on…`: listeners; false and undefined: none) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Choices of a `select`: value and what is shown. */
export type Choice = readonly [value: string, text: string];

/** A labelled `select`. */
export function select(
  id: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
  change: (value: string) => void,
): HTMLElement {
  const options = choices.map(([value, text]) => h("option", { value, selected: value === chosen }, text));
  const onchange = (event: Event): void => change((event.target as HTMLSelectElement).value);
  return h("label", { class: "field", for: id }, h("span", {}, label), h("select", { id, onchange }, ...options));
}

/** A table of text, or of nodes made by us. */
export interface Table {
  head: string[];
  rows: Child[][];
  /** What is to be told under a row, by its place: its title, and lines. */
  under?: Map<number, { title: string; lines: string[] }>;
}

/** From here on a table scrolls within itself. */
const LONG = 60;

/** A table; its first column names the row. */
export function table({ head, rows, under }: Table, name: string): HTMLElement {
  const told = (cell: Child): string | undefined => (typeof cell === "string" ? meaning(cell) : undefined);
  const body = rows.flatMap((row, nth) => {
    const line = h(
      "tr",
      {},
      ...row.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", { title: told(cell) }, cell))),
    );
    const more = under?.get(nth);
    if (!more) return [line];
    const list = h("ul", { class: "said" }, ...more.lines.map((text) => h("li", {}, text)));
    const folded = h("details", {}, h("summary", {}, more.title), list);
    return [line, h("tr", { class: "under" }, h("td", { colspan: head.length }, folded))];
  });
  const header = h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)));
  return h(
    "div",
    { class: rows.length > LONG ? "scroll long" : "scroll", tabindex: 0, role: "region", "aria-label": name },
    h("table", {}, h("caption", { class: "hidden" }, name), h("thead", {}, header), h("tbody", {}, ...body)),
  );
}
