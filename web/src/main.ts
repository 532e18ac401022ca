import "./style.css";
import type { Context } from "./context";
import { machine, type PageData, type Run, runs as load, type Row } from "./data";
import { type Choice, h, select } from "./dom";
import { saveable } from "./save";
import { parse, START, type State, write } from "./state";
import { compare } from "./views/compare";
import { curves } from "./views/curves";
import { distribution } from "./views/distribution";
import { evidence } from "./views/evidence";
import { ladder } from "./views/ladder";
import { life } from "./views/life";
import { machine as machineView } from "./views/machine";
import { compareMachines } from "./views/machines";
import { pairs } from "./views/pairs";
import { rounds } from "./views/rounds";

const VIEWS: Record<string, { title: string; draw: (context: Context) => HTMLElement[] }> = {
  ladder: { title: "Ladder", draw: ladder },
  distribution: { title: "Distribution", draw: distribution },
  evidence: { title: "Evidence", draw: evidence },
  compare: { title: "Compare", draw: compare },
  curves: { title: "Curves", draw: curves },
  pairs: { title: "CPU pairs", draw: pairs },
  rounds: { title: "Rounds", draw: rounds },
  life: { title: "Create & keep", draw: life },
  machines: { title: "Machines", draw: compareMachines },
  machine: { title: "Machine", draw: machineView },
};

/** All views in sequence: for paper. */
const EVERYTHING = "all";

/** Choices of a `select` stay bounded, whatever is imported. */
const MOST_CHOICES = 500;

const data = JSON.parse(document.getElementById("data")!.textContent!) as PageData;
const runs: Run[] = load(data);
const page = document.getElementById("page")!;
const top = h("header", {});
const main = h("main", { id: "main", tabindex: -1 });
const foot = h(
  "footer",
  {},
  h(
    "p",
    {},
    `Made by ${data.tool} with `,
    h("code", {}, data.made_by.length > 300 ? `${data.made_by.slice(0, 300)} …` : data.made_by),
    ". What each number means is told in METHODOLOGY.md.",
  ),
  ...data.notes.map((note) => h("p", {}, note)),
);
let state: State = parse(location.hash);
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

/** The run of the address; without one the last given, which is the newest as a rule. */
const chosen = (): Run | undefined => runs.find((run) => run.key === state.run) ?? runs.at(-1);

function go(change: Partial<State>): void {
  state = { ...state, ...change };
  history.pushState(null, "", write(state));
  render();
}

const link = (change: Partial<State>): string => write({ ...state, ...change });

function values(run: Run, of: (row: Row) => string, all: string): Choice[] {
  return [["", all], ...[...new Set(run.rows.map(of))].slice(0, MOST_CHOICES).map((value): Choice => [value, value])];
}

function filters(run: Run, shown: number): HTMLElement {
  const families = [...new Set(run.rows.map((row) => row.family))].slice(0, MOST_CHOICES);
  const toggle = (family: string): void => {
    const now = state.families.length === 0 ? [] : state.families;
    go({ families: now.includes(family) ? now.filter((other) => other !== family) : [...now, family], page: 0 });
  };
  const family = (name: string): HTMLElement =>
    h(
      "button",
      {
        type: "button",
        id: `family-${name}`,
        class: "chip",
        "aria-pressed": String(state.families.includes(name)),
        onclick: () => toggle(name),
      },
      name,
    );
  const field = (name: "experiment" | "placement" | "probe", of: (row: Row) => string): HTMLElement =>
    select(`filter-${name}`, name, values(run, of, "all"), state[name], (value) => go({ [name]: value, page: 0 }));
  const onchange = (event: Event): void => go({ text: (event.target as HTMLInputElement).value, page: 0 });
  const search = h(
    "label",
    { class: "field", for: "filter-text" },
    h("span", { title: "words; with a minus before it, what the name has not" }, "name has"),
    h("input", { id: "filter-text", type: "search", value: state.text, onchange }),
  );
  const reset = h(
    "button",
    {
      type: "button",
      id: "filter-none",
      onclick: () => go({ families: [], experiment: "", placement: "", probe: "", text: "", page: 0 }),
    },
    "All rows",
  );
  const active =
    state.families.length + [state.experiment, state.placement, state.probe, state.text].filter(Boolean).length;
  return h(
    "details",
    { class: "filters", id: "filters", open: active > 0 || innerWidth >= 900 },
    h("summary", {}, `Filters: ${shown} of ${run.rows.length} rows`),
    h(
      "div",
      { class: "controls" },
      h("div", { class: "chips", role: "group", "aria-label": "families" }, ...families.map(family)),
      field("experiment", (row) => row.experiment),
      field("placement", (row) => row.placement),
      field("probe", (row) => row.probe),
      search,
      active > 0 && reset,
    ),
  );
}

function header(run: Run, shown: number): HTMLElement[] {
  const { run: about } = run.data;
  const day = about.started.slice(0, 16).replace("T", " ");
  const choices = runs.slice(0, 2000).map((run): Choice => [run.key, `${run.key} · ${run.data.source}`]);
  const dark =
    document.documentElement.dataset["theme"] === "dark" ||
    (!state.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const theme = h(
    "button",
    { type: "button", id: "theme", onclick: () => go({ theme: dark ? "light" : "dark" }) },
    dark ? "Light" : "Dark",
  );
  const tab = (name: string, title: string): HTMLElement =>
    h(
      "li",
      {},
      h("a", { href: link({ view: name, page: 0 }), "aria-current": state.view === name ? "page" : undefined }, title),
    );
  const warnings = run.data.warnings.slice(0, 20).map((text) => h("li", {}, text));
  return [
    h("div", { class: "title" }, h("h1", {}, "What a context switch costs"), theme),
    h(
      "p",
      { class: "about" },
      `Run ${about.id} · ${day} UTC · ${machine(run.data)}`,
      about.partial && h("strong", {}, " · did not come to its planned end"),
    ),
    runs.length > 1 ? select("run", "Run", choices, run.key, (key) => go({ run: key, page: 0 })) : null,
    warnings.length > 0
      ? h(
          "details",
          { class: "warnings", open: innerWidth >= 900 },
          h("summary", {}, `${warnings.length} ${warnings.length === 1 ? "warning" : "warnings"}`),
          h("ul", {}, ...warnings),
        )
      : null,
    h(
      "nav",
      { "aria-label": "Views" },
      h("ul", {}, ...Object.entries(VIEWS).map(([name, { title }]) => tab(name, title)), tab(EVERYTHING, "Everything")),
    ),
    filters(run, shown),
  ].filter((part) => part !== null);
}

/** What a saved picture says of where its figures come from. */
function origin(run: Run): string {
  const { id, started, tool_version } = run.data.run;
  const several = runs.length > 1 && ["machines", "life", "compare"].includes(state.view);
  return `${several ? `${runs.length} runs` : `run ${id}, ${started.slice(0, 10)}, ${machine(run.data)}`} · switchcost ${tool_version}`;
}

/** Draws what the state says. Focus stays where it was. */
function render(): void {
  const focused = document.activeElement?.id;
  if (state.theme === "light" || state.theme === "dark") document.documentElement.dataset["theme"] = state.theme;
  else delete document.documentElement.dataset["theme"];
  const run = chosen();
  if (!run) {
    main.replaceChildren(h("p", {}, "This page holds no run."));
    return;
  }
  if (state.view !== EVERYTHING && !(state.view in VIEWS)) state.view = START.view;
  const rows = run.rows.filter(passes);
  const open = document.querySelector<HTMLDetailsElement>("#filters")?.open;
  top.replaceChildren(...header(run, rows.length));
  if (open !== undefined) document.querySelector<HTMLDetailsElement>("#filters")!.open = open;
  const width = printing
    ? 700
    : Math.max(280, Math.min(1248, main.clientWidth || page.clientWidth) - (innerWidth <= 640 ? 18 : 36));
  const context: Context = { data, runs, run, rows, state, width, go, link };
  const names = state.view === EVERYTHING || printing ? Object.keys(VIEWS) : [state.view];
  main.replaceChildren(
    ...names.map((name) => {
      const view = VIEWS[name]!;
      return h(
        "section",
        { id: `view-${name}`, "aria-label": view.title },
        h("h2", {}, view.title),
        ...view.draw(context),
      );
    }),
  );
  for (const figure of main.querySelectorAll("figure")) saveable(figure, origin(run));
  document.title = `${VIEWS[state.view]?.title ?? "Everything"} · ${run.data.run.id} · switchcost`;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

/** Views that were opened for paper are as they were afterwards. */
function onPaper(now: boolean): void {
  printing = now;
  render();
  if (now) for (const details of document.querySelectorAll("details")) details.open = true;
}

document.getElementById("skip")!.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
  main.scrollIntoView();
});
addEventListener("popstate", () => {
  state = parse(location.hash);
  render();
});
addEventListener("hashchange", () => {
  state = parse(location.hash);
  render();
});
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
page.replaceChildren(top, main, foot);
render();
