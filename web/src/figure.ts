import { type Child, h, table, type Table } from "./dom";
import { rowAt } from "./rowplot";

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
  /** Beside the title: choosers. */
  tools?: Child[];
  /** Between title and picture. */
  extra?: Child[];
  /** Right under the picture. */
  below?: Child;
}

/** A picture with its caption, its command, its n, and the same as text. */
export function figure(of: Figure): HTMLElement {
  of.picture?.setAttribute("role", "img");
  of.picture?.setAttribute("aria-label", `${of.title}. The table below has the same as text.`);
  const shown =
    of.table.rows.length > 0 &&
    h("details", { class: "table", open: of.open ?? false }, h("summary", {}, "Table"), table(of.table, of.title));
  return h(
    "figure",
    { id: of.id },
    h("div", { class: "bar" }, h("h3", {}, of.title), ...(of.tools ?? [])),
    ...(of.extra ?? []),
    of.picture ? h("div", { class: "picture" }, of.picture) : null,
    of.below,
    h(
      "figcaption",
      {},
      h("p", {}, of.caption),
      h("div", { class: "made" }, h("span", {}, `n: ${of.n}. `), ...measured(of.command)),
    ),
    shown,
  );
}

/** Commands of more than two lines are folded: those of several runs take a screen. */
const measured = (command: string): Child[] =>
  command.length <= 160
    ? ["Measured by ", h("code", {}, command)]
    : [h("details", {}, h("summary", {}, "Measured by …"), h("code", {}, command))];

/** A line of fixed place that says what the pointer is on; without one how to read the marks. */
export function pointed(picture: Element, otherwise: string, say: (key: string) => string | undefined): HTMLElement {
  const line = h("p", { class: "tip", "aria-hidden": "true" }, otherwise);
  picture.addEventListener("pointermove", (event) => {
    const key = rowAt(picture, event as PointerEvent);
    line.textContent = (key === undefined ? undefined : say(key)) ?? otherwise;
  });
  picture.addEventListener("pointerleave", () => (line.textContent = otherwise));
  return line;
}

/** What to do when there is nothing to draw. */
export const nothing = (why: string, ...commands: string[]): HTMLElement =>
  h("div", { class: "nothing" }, h("p", {}, why), ...commands.map((command) => h("pre", { tabindex: 0 }, command)));
