import "./parts.css";
import "./style.css";
import type { Context } from "./context";
import { type PageData, type Row, type Run, runs as load, machine } from "./data";
import { h } from "./dom";
import { header, more } from "./header";
import { panel } from "./panel";
import { saveable, saved } from "./save";
import { parse, type State, write } from "./state";
import { startView, VIEWS } from "./views";

/** Every view in sequence: an address for those who look through all of them. */
const EVERYTHING = "all";

/** Width of a picture on paper. */
const PAPER = 700;

let data: PageData;
let runs: Run[] = [];
const page = document.getElementById("page")!;
const top = h("header", {});
const main = h("main", { id: "main", tabindex: -1 });
const side = h("div", { id: "side" });
const foot = h("footer", {});
let state: State;
let printing = false;

/** Every word of the search occurs, and none that a minus stands before. */
const names = (label: string): boolean =>
  state.text
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => (word.startsWith("-") ? !label.includes(word.slice(1)) : label.includes(word)));

const passes = (row: Row): boolean =>
  (state.families.length === 0 || state.families.includes(row.family)) &&
  (!state.experiment || row.experiment === state.experiment) &&
  (!state.placement || row.placement === state.placement) &&
  (!state.probe || row.probe === state.probe) &&
  names(row.label.toLowerCase());

/** The run of the address. Without one that which holds the most, first of those with a switch that others are compared with; of several alike the last given. */
const chosen = (): Run | undefined => {
  const holds = (run: Run): number => run.rows.length + (run.data.run.reference === null ? 0 : 1e6);
  const most = Math.max(...runs.map(holds));
  return runs.find((run) => run.key === state.run) ?? runs.findLast((run) => holds(run) === most);
};

function go(change: Partial<State>): void {
  state = { ...state, ...change };
  history.pushState(null, "", write(state));
  render();
}

const link = (change: Partial<State>): string => write({ ...state, ...change });

/** What a saved picture says of where its figures come from. */
function origin(run: Run): string {
  const { id, started, tool_version } = run.data.run;
  const several = runs.length > 1 && ["machines", "life", "compare", "memory", "history"].includes(state.view);
  return `${several ? `${runs.length} runs` : `run ${id}, ${started.slice(0, 10)}, ${machine(run.data)}`} · switchcost ${tool_version}`;
}

/** Draws what the state says. Focus, and what was unfolded, stay as they were. */
function render(): void {
  const focused = document.activeElement?.id;
  if (state.theme === "light" || state.theme === "dark") document.documentElement.dataset["theme"] = state.theme;
  else delete document.documentElement.dataset["theme"];
  const run = chosen();
  if (!run) {
    main.replaceChildren(h("p", {}, "This page holds no run."));
    return;
  }
  const known = state.view === EVERYTHING || Object.hasOwn(VIEWS, state.view);
  const shown: State = { ...state, view: known ? state.view : startView(run, runs, data) };
  const rows = run.rows.filter(passes);
  const open = [...document.querySelectorAll<HTMLDetailsElement>("header details[open]")].map((details) => details.id);
  const width = printing
    ? PAPER
    : Math.max(280, Math.min(1248, main.clientWidth || page.clientWidth) - (innerWidth <= 640 ? 18 : 36));
  const context: Context = { data, runs, run, rows, passes, state: shown, width, go, link };
  top.replaceChildren(...header(context));
  for (const id of open) document.querySelector<HTMLDetailsElement>(`#${id}`)?.setAttribute("open", "");
  const names = shown.view === EVERYTHING ? Object.keys(VIEWS) : [shown.view];
  main.replaceChildren(
    ...names.map((name) => {
      const view = VIEWS[name]!;
      const own = view.draw(context);
      return h(
        "section",
        { id: `view-${name}`, "aria-label": view.title },
        h("h2", { class: "hidden" }, view.title),
        ...own,
      );
    }),
  );
  for (const figure of main.querySelectorAll("figure")) saveable(figure, origin(run));
  const about = panel(context);
  const before = document.getElementById("panel-title")?.textContent;
  side.replaceChildren(...(about ? [about] : []));
  foot.replaceChildren(more(context), ...made());
  document.title = `${VIEWS[shown.view]?.title ?? "Everything"} · ${run.data.run.id} · switchcost`;
  const title = document.getElementById("panel-title");
  if (title && title.textContent !== before) title.focus({ preventScroll: true });
  else if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

const made = (): HTMLElement[] => [
  h(
    "p",
    {},
    `Made by ${data.tool} with `,
    h("code", {}, data.made_by.length > 300 ? `${data.made_by.slice(0, 300)} …` : data.made_by),
    ". METHODOLOGY.md says what each number means.",
  ),
  ...data.notes.map((note) => h("p", {}, note)),
];

/** Paper gets the view that is shown, with its tables and notes. */
function onPaper(now: boolean): void {
  printing = now;
  render();
  if (now)
    for (const details of main.querySelectorAll<HTMLDetailsElement>("details.table, details.caveats"))
      details.open = true;
}

document.getElementById("skip")!.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
  main.scrollIntoView();
});

/** A browser without a window is asked by the address for the first picture, or for one of these, and prints a page that holds nothing else. */
async function hand(kind: string, wanted: string | null): Promise<void> {
  const run = chosen();
  let found: string | null = null;
  for (const figure of main.querySelectorAll("figure"))
    if (run && !found && (!wanted || figure.id === wanted)) found = await saved(figure, origin(run), kind);
  document.body.replaceChildren(h("pre", { id: "picture" }, found ?? ""));
}

/** Draws the page, and again whenever its address, its width or its colours change. */
function begin(): void {
  const again = (): void => {
    state = parse(location.hash);
    render();
  };
  addEventListener("popstate", again);
  addEventListener("hashchange", again);
  addEventListener("beforeprint", () => onPaper(true));
  addEventListener("afterprint", () => onPaper(false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
  let drawnAt = innerWidth;
  addEventListener("resize", () => {
    // A phone's bars change the height only.
    if (printing || Math.abs(innerWidth - drawnAt) < 8) return;
    drawnAt = innerWidth;
    requestAnimationFrame(render);
  });
  page.replaceChildren(top, main, side, foot);
  // The address may have changed while the data were unpacked.
  again();
  const asked = new URLSearchParams(location.hash.slice(1));
  const kind = asked.get("picture");
  if (kind) void hand(kind, asked.get("figure"));
}

/** A part of the page's data, which the host packed as zlib in base64. */
const unpacked = (part: string): Promise<Blob> => {
  const packed = Uint8Array.from(atob(part), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).blob();
};

const parts = document.getElementById("data")!.textContent!.trim().split(",").map(unpacked);
const whole = Promise.all(parts).then((parts) => new Response(new Blob(parts)).json());
whole.then(
  (found: PageData) => {
    data = found;
    runs = load(data);
    begin();
  },
  (error: unknown) =>
    page.replaceChildren(
      h(
        "p",
        {},
        `The data of this page cannot be read: ${String(error)}. Browsers since 2023 can (Chrome 80, Firefox 113, Safari 16.4).`,
      ),
    ),
);
