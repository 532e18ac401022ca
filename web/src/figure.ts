import { type Child, h, table, type Table } from "./dom";

export interface Figure {
  id: string;
  title: string;
  /** What is to be seen, and how to read the marks. */
  caption: string;
  /** What makes the data of this figure. */
  command: string;
  /** What is behind it. */
  n: string;
  picture: Element | null;
  table: Table;
  /** The table is shown from the start: it says more than the picture. */
  open?: boolean;
  extra?: Child[];
  /** Right under the picture. */
  below?: Child;
}

/** A picture with its caption, its command, its n, and the same as text. */
export function figure({
  id,
  title,
  caption,
  command,
  n,
  picture,
  table: text,
  open,
  extra,
  below,
}: Figure): HTMLElement {
  picture?.setAttribute("role", "img");
  picture?.setAttribute("aria-label", `${title}. The table below has the same as text.`);
  const shown =
    text.rows.length > 0 &&
    h("details", { open: open ?? false }, h("summary", {}, `Table: ${title}`), table(text, title));
  return h(
    "figure",
    { id },
    h("h3", {}, title),
    ...(extra ?? []),
    picture ? h("div", { class: "picture" }, picture) : null,
    below,
    h(
      "figcaption",
      {},
      h("p", {}, caption),
      h("p", { class: "made" }, h("span", {}, `n: ${n}. `), "Measured by ", h("code", {}, command)),
    ),
    shown,
  );
}

/** What to do when there is nothing to draw. */
export const nothing = (why: string, ...commands: string[]): HTMLElement =>
  h("div", { class: "nothing" }, h("p", {}, why), ...commands.map((command) => h("pre", { tabindex: 0 }, command)));
