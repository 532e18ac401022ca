/** What stands above every view: the answer, where it comes from, what limits it, and the ways to the views. */

import { type Context, colour, familyTitle } from "./context";
import { brief, cost, inCommon, machine, moment, type Row, type Run } from "./data";
import { type Choice, h, select } from "./dom";
import { digits, range, times } from "./format";
import { VIEWS } from "./views";
import { machinesOf } from "./views/machines";

/** Choices of a `select` stay bounded, whatever is imported. */
const MOST_CHOICES = 500;

/** The rows that stand for their families, as `run` and `show` name them. */
const answers = (run: Run): Row[] =>
  run.data.run.representatives.flatMap((label) => run.rows.find((row) => row.label === label) ?? []);

/** An interval wider than this lets no sentence give one number; nor does the terminal's. */
const WIDEST = 0.1;

/** × the reference, if its interval is narrow enough. */
function carried({
  result: { times_reference: times, times_reference_low: low, times_reference_high: high },
}: Row): number | null {
  const near = (end: number | null): boolean => end !== null && Math.abs(end / times! - 1) <= WIDEST;
  return times !== null && near(low) && near(high) ? times : null;
}

/** `A thread/futex switch costs 1.07 µs here: as much as 4.78 fiber/goroutine or 444 coroutine/cpp20 switches.` */
function sentence(context: Context): HTMLElement | null {
  const reference = context.run.rows.find((row) => row.label === context.run.data.run.reference);
  if (!reference || reference.median === null) return null;
  const few = answers(context.run)
    .reverse()
    .flatMap((row) => {
      const worth = 1 / (carried(row) ?? 1);
      return row.family !== reference.family && worth > 1 ? [`${digits(worth)} ${row.label}`] : [];
    })
    .slice(0, 3);
  if (few.length === 0) return null;
  const last = few.pop()!;
  const all = few.length > 0 ? `${few.join(", ")} or ${last}` : last;
  return h(
    "p",
    { class: "sentence" },
    `A ${reference.label} switch costs ${cost(reference)} here: as much as ${all} switches.`,
  );
}

/** A button with a row's figure, which opens what there is to know of it. */
function card(context: Context, row: Row, run: Run, figure: string, beside: string): HTMLElement {
  const button = h(
    "button",
    {
      type: "button",
      class: "answer",
      title: familyTitle(row.family, context.data),
      onclick: () => context.go({ open: row.label, run: run.key }),
    },
    h("span", { class: "family" }, row.label),
    h("strong", {}, figure),
    h("small", {}, beside),
  );
  const element = h("li", {}, button);
  element.style.setProperty("--own", colour(row.family, context.data));
  return element;
}

function figures(context: Context): HTMLElement | null {
  const { run } = context;
  const found = answers(run);
  if (found.length < 2) return null;
  const { reference } = run.data.run;
  const beside = (row: Row): string => {
    const ratio = carried(row);
    if (row.label === reference) return "one thread switch";
    return ratio === null ? "" : times(ratio, "", " cheaper than") + " a thread switch";
  };
  const cards = found.map((row) => card(context, row, run, brief(row), beside(row)));
  return h("ul", { class: "answers", "aria-label": "One switch of each family" }, ...cards);
}

/** Cards of a page of several runs. */
const MOST_CARDS = 6;

const day = (run: Run): string => moment(run).replace(/,.*/, "");

/** Of several runs: what they have in common, and from where to where its figures reach. */
function together(context: Context): HTMLElement[] {
  const { runs } = context;
  const common = inCommon(runs);
  const chosen = new Set(runs.flatMap((run) => run.data.run.representatives));
  const rank = ([label, all]: [string, unknown[]]): number => all.length + (chosen.has(label) ? runs.length : 0);
  const shared = [...common]
    .filter(([, [first]]) => !first!.row.detail.control)
    .sort((a, b) => rank(b) - rank(a))
    .slice(0, MOST_CARDS);
  const days = [...runs].sort((a, b) => a.data.run.started.localeCompare(b.data.run.started)).map(day);
  const when = days[0] === days.at(-1) ? days[0] : `${days[0]} to ${days.at(-1)}`;
  const rows = common.size === 0 ? "no row in common" : `${counted(common.size, "row", "rows")} in common`;
  const cards =
    shared.length > 0
      ? shared.map(([, all]) => {
          const { row, run } = all.at(-1)!;
          const values = all.flatMap((one) => one.row.figures);
          const ends = [Math.min(...values), Math.max(...values)];
          return card(context, row, run, range(ends, row.quantity), counted(all.length, "run", "runs"));
        })
      : [...new Map(runs.flatMap((run) => answers(run).map((row) => [row.family, { row, run }] as const))).values()]
          .slice(0, MOST_CARDS)
          .map(({ row, run }) => card(context, row, run, brief(row), day(run)));
  const label =
    shared.length > 0 ? "Rows of several runs, from the lowest figure to the highest" : "One row of each family";
  return [
    h("p", { class: "sentence" }, `${runs.length} runs of ${machinesOf(runs)}, ${when}: ${rows}.`),
    ...(cards.length > 0 ? [h("ul", { class: "answers wide", "aria-label": label }, ...cards)] : []),
  ];
}

/** What limits the answer, above it: whose run it is of, if there are several. */
function conditions({ run, runs }: Context): HTMLElement[] {
  const whose = runs.length > 1 ? `${run.title}: ` : "";
  return run.data.cautions.slice(0, 8).map((text) => h("p", { class: "condition" }, whose + text));
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** Warnings and what the intervals and checks are like, in one line that opens. */
function limits(context: Context): HTMLElement {
  const { run } = context;
  const { rows } = run;
  const target = run.data.run.precision;
  const wide = rows.filter(
    ({ low, high, median }) => low !== null && high !== null && median !== null && (high - low) / 2 / median > target,
  );
  const passed = rows.filter((row) => row.result.verdict === "verified");
  const failed = rows.filter((row) => row.result.verdict !== "verified");
  const { warnings } = run.data;
  const line = [
    run.data.run.partial ? "stopped early (time budget)" : "",
    warnings.length > 0 ? counted(warnings.length, "warning", "warnings") : "",
    wide.length > 0 ? counted(wide.length, "wide interval", "wide intervals") : "",
    `${passed.length} of ${rows.length} passed`,
  ].filter(Boolean);
  const told = [
    ...warnings.slice(0, 20),
    wide.length > 0 &&
      `${counted(wide.length, "interval is", "intervals are")} wider than ±${Number((target * 100).toPrecision(3))} %: ${listed(wide)}.`,
    failed.length > 0 && `Not verified: ${listed(failed)}; see Evidence.`,
  ].filter((text) => typeof text === "string");
  if (told.length === 0) return h("p", { class: "fine" }, line.join(" · "));
  return h(
    "details",
    { class: "limits", id: "limits" },
    h("summary", {}, line.join(" · ")),
    h("ul", {}, ...told.map((text) => h("li", {}, text))),
  );
}

const listed = (rows: Row[]): string =>
  rows
    .slice(0, 40)
    .map((row) => row.label)
    .join(", ") + (rows.length > 40 ? " …" : "");

function values(run: Run, of: (row: Row) => string): Choice[] {
  return [["", "all"], ...[...new Set(run.rows.map(of))].slice(0, MOST_CHOICES).map((value): Choice => [value, value])];
}

function filters({ run, rows, state, go }: Context): HTMLElement {
  const families = [...new Set(run.rows.map((row) => row.family))].slice(0, MOST_CHOICES);
  const toggle = (family: string): void => {
    const now = state.families;
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
    select(`filter-${name}`, name, values(run, of), state[name], (value) => go({ [name]: value, page: 0 }));
  const onchange = (event: Event): void => go({ text: (event.target as HTMLInputElement).value, page: 0 });
  const search = h(
    "label",
    { class: "field", for: "filter-text" },
    h("span", { title: "words; with a minus before it, what the name has not" }, "Search"),
    h("input", { id: "filter-text", type: "search", value: state.text, onchange }),
  );
  const none = { families: [], experiment: "", placement: "", probe: "", text: "", page: 0 };
  const reset = h("button", { type: "button", id: "filter-none", onclick: () => go(none) }, "All rows");
  const active =
    state.families.length + [state.experiment, state.placement, state.probe, state.text].filter(Boolean).length;
  return h(
    "details",
    { class: "filters", id: "filters", open: active > 0 },
    h(
      "summary",
      {},
      active > 0 ? `Filter: ${rows.length} of ${run.rows.length} rows` : `Filter ${run.rows.length} rows`,
    ),
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

function tabs({ run, runs, data, state, link }: Context): HTMLElement {
  const tab = (name: string, title: string): HTMLElement => {
    const current = state.view === name ? "page" : undefined;
    return h("li", {}, h("a", { href: link({ view: name, page: 0 }), "aria-current": current }, title));
  };
  const filled = Object.entries(VIEWS).filter(([name, { has }]) => has(run, runs, data) || name === state.view);
  return h("nav", { "aria-label": "Views" }, h("ul", {}, ...filled.map(([name, { title }]) => tab(name, title))));
}

/** All of it. */
export function header(context: Context): HTMLElement[] {
  const { run, runs, state, go } = context;
  const dark =
    document.documentElement.dataset["theme"] === "dark" ||
    (!state.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const onclick = (): void => go({ theme: dark ? "light" : "dark" });
  const theme = h("button", { type: "button", id: "theme", onclick }, dark ? "Light" : "Dark");
  const choices = runs.slice(0, 2000).map((run): Choice => [run.key, run.title]);
  const about = `${machine(run.data)} · ${run.data.run.started.slice(0, 16).replace("T", " ")} UTC · run ${run.data.run.id}`;
  return [
    h("div", { class: "title" }, h("h1", {}, "What a context switch costs"), theme),
    ...conditions(context),
    ...(runs.length > 1 ? together(context) : [sentence(context), figures(context)]),
    runs.length > 1 ? select("run", "Run", choices, run.key, (key) => go({ run: key, page: 0, open: "" })) : null,
    h("p", { class: "about" }, about),
    h("div", { class: "lines" }, limits(context), filters(context)),
    tabs(context),
  ].filter((part) => part !== null);
}

/** What these runs do not hold, and how it is measured. */
export function more({ run, runs, data }: Context): HTMLElement {
  const empty = Object.values(VIEWS).flatMap((view) =>
    view.more && !view.has(run, runs, data)
      ? [
          {
            title: view.title,
            shows: view.more.shows,
            command: typeof view.more.command === "string" ? view.more.command : view.more.command(data),
          },
        ]
      : [],
  );
  if (empty.length === 0) return h("p", {});
  return h(
    "details",
    { class: "more", id: "more" },
    h("summary", {}, `More you could measure: ${empty.map(({ title }) => title).join(", ")}`),
    h(
      "dl",
      {},
      ...empty.flatMap(({ title, shows, command }) => [
        h("dt", {}, `${title}: ${shows}`),
        h("dd", {}, h("code", {}, command)),
      ]),
    ),
  );
}
