import * as Plot from "@observablehq/plot";
import { type Context, colour, counted, typed } from "../context";
import { type Literature, literatureOf, type Quantity, type Row } from "../data";
import { type Choice, h, select } from "../dom";
import { figure, nothing } from "../figure";
import { amount, factor } from "../format";
import { logAxis, rowAt, rowPlot, type Seat } from "../rowplot";
import { byExperiment, lines, paged, words } from "./common";

const TITLES: Record<string, string> = {
  switch: "Cost of a switch",
  create: "Cost of creating, entering once and destroying a context",
  message: "Cost of a message there and back",
  footprint: "Memory of a live, suspended context",
};

/** The ladder: what each kind of switch costs, on one axis. */
export function ladder(context: Context): HTMLElement[] {
  if (context.rows.length === 0) return [nothing("No row passes the filters.")];
  return byExperiment(context.rows).map(([experiment, rows]) => one(context, experiment, rows));
}

/** The rung to which factors refer: the one chosen, else the run's reference. */
function rung(context: Context, rows: Row[]): Row | undefined {
  const chosen = rows.find((row) => row.label === context.state.against && row.median !== null);
  return chosen ?? rows.find((row) => row.label === context.run.data.run.reference);
}

/** Cost of a row by that of another of its run, by the estimate of `compare`; null where there is none. */
function ratioTo(reference: Row, row: Row, context: Context): number | null {
  if (row === reference) return 1;
  if (reference.label === context.run.data.run.reference) return row.result.times_reference;
  const table = context.data.tables.find(
    (table) => table.reference === reference.label && table.a === context.run.index && table.b === table.a,
  );
  return table?.comparisons.find((comparison) => comparison.b.label === row.label)?.ratio ?? null;
}

/** The figure of a row, or those of its modes. */
function figures(row: Row, quantity: Quantity): string {
  const modes = row.result.modes.map(([value]) => amount(value ?? null, quantity));
  return modes.length > 0 ? modes.join(" or ") : amount(row.median, quantity);
}

function marker(row: Row): "circle" | "times" {
  return row.result.verdict === "contradicted" ? "times" : "circle";
}

function summary(row: Row, quantity: Quantity): string {
  const of = (value: number | null): string => amount(value, quantity);
  return [
    row.label,
    `${of(row.median)} per ${row.result.unit}, 95 % interval ${of(row.low)} – ${of(row.high)}`,
    ...(quantity === "time" ? [`minimum ${of(row.min)}, p99 ${of(row.p99)}`] : []),
    `${row.result.verdict}${row.result.reason ? `: ${row.result.reason}` : ""}`,
    `${row.result.starts} starts, ${row.result.samples} batches`,
  ].join("\n");
}

interface Mark extends Literature {
  key: string;
  /** Place in the list below the picture. */
  nth: number;
}

/** Room that a digit of the numbers takes, and a diamond, in pixels. */
const DIGIT = 5.5;
const DIAMOND = 9;

/** Numbers of a row's marks, of those too close to one another together. */
export function numbered(
  marks: Mark[],
  [low, high]: [number, number],
  inner: number,
): { key: string; x: number; text: string }[] {
  const place = (value: number): number => (Math.log(value / low) / Math.log(high / low)) * inner;
  const groups: { key: string; x: number; text: string }[] = [];
  for (const mark of [...marks].sort((a, b) => a.low - b.low)) {
    const last = groups.findLast((group) => group.key === mark.key);
    if (
      last &&
      place(mark.low) - place(last.x) <
        Math.max(DIAMOND, (last.text.length + String(mark.nth).length + 1) * (DIGIT / 2) + 4)
    )
      last.text += `,${mark.nth}`;
    else groups.push({ key: mark.key, x: mark.low, text: String(mark.nth) });
  }
  return groups;
}

/** The figure: one, a range, or what it is below. */
const quoted = (value: Literature): string =>
  `${value.upper_bound ? "below " : ""}${amount(value.low, "time")}${value.high === null ? "" : ` – ${amount(value.high, "time")}`}`;

/** What is known against it. */
const but = (value: Literature, before: string): string =>
  value.caveat === null ? "" : `${before}but: ${value.caveat}`;

/** What a reader of the picture must know of a mark: without pointing at it, and on paper. */
const where = (value: Literature): string =>
  `${quoted(value)}: ${value.machine}, ${value.year ?? "year not stated"}${but(value, "; ")}`;

const told = (value: Literature): string =>
  `${value.name}: ${quoted(value)}\n${value.what}\n${value.machine}, ${value.year ?? "year not stated"}\n${value.source}${value.read ? "" : " (as quoted elsewhere)"}${but(value, "\n")}`;

/** What others published, by number. */
function literatureMarks(literature: Mark[], domain: [number, number], seat: Seat): Plot.Markish[] {
  return [
    Plot.link(
      literature.filter((mark) => mark.high !== null),
      {
        y: "key",
        x1: "low",
        x2: "high",
        stroke: "var(--faint)",
        strokeOpacity: 0.6,
        strokeWidth: 1,
        strokeDasharray: "2,2",
        dy: seat.dy,
      },
    ),
    Plot.dot(literature, {
      y: "key",
      x: "low",
      symbol: "diamond2" as Plot.SymbolType,
      stroke: "var(--faint)",
      r: 3.5,
      title: told,
      dy: seat.dy,
    }),
    Plot.text(numbered(literature, domain, seat.inner), {
      y: "key",
      x: "x",
      text: "text",
      fontSize: 9,
      fill: "var(--faint)",
      stroke: "var(--paper)",
      strokeWidth: 3,
      dy: seat.dy - 9,
    } as Plot.TextOptions),
  ];
}

/** Luckiest batch, 99th percentile, interval and median of each row. */
function rowMarks(drawable: Row[], quantity: Quantity, context: Context, seat: Seat): Plot.Markish[] {
  const single = drawable.filter((row) => row.result.modes.length === 0);
  const timed = (value: "min" | "p99"): Row[] => drawable.filter((row) => row[value] !== null && quantity === "time");
  const paint = (row: Row): string => colour(row.family, context.data);
  return [
    Plot.tickX(timed("min"), {
      y: "key",
      x: "min",
      stroke: paint,
      strokeWidth: 1.5,
      insetTop: seat.insetTop,
      insetBottom: seat.insetBottom,
    }),
    Plot.tickX(timed("p99"), {
      y: "key",
      x: "p99",
      stroke: paint,
      strokeWidth: 1.5,
      strokeDasharray: "2,2",
      insetTop: seat.insetTop,
      insetBottom: seat.insetBottom,
    }),
    Plot.link(
      single.filter((row) => row.low !== null && row.high !== null),
      {
        y: "key",
        x1: "low",
        x2: "high",
        stroke: paint,
        strokeWidth: 4,
        strokeOpacity: 0.55,
        strokeLinecap: "round",
        dy: seat.dy,
      },
    ),
    Plot.dot(
      drawable.flatMap((row) => row.result.modes.map(([value]) => ({ key: row.key, family: row.family, value }))),
      {
        y: "key",
        x: "value",
        r: 3,
        fill: (mode: { family: string }) => colour(mode.family, context.data),
        dy: seat.dy,
      },
    ),
    Plot.dot(single, {
      y: "key",
      x: "median",
      r: 4.5,
      symbol: marker,
      fill: (row: Row) => (row.result.verdict === "verified" ? colour(row.family, context.data) : "var(--paper)"),
      stroke: (row: Row) => (row.result.verdict === "contradicted" ? "var(--alarm)" : colour(row.family, context.data)),
      strokeWidth: 1.8,
      dy: seat.dy,
    }),
  ];
}

function one(context: Context, experiment: string, all: Row[]): HTMLElement {
  const { shown: rows, pager } = paged(all, context);
  const quantity: Quantity = experiment === "footprint" ? "memory" : "time";
  const reference = rung(context, all);
  const times = (row: Row): string => {
    const ratio = reference === undefined ? null : ratioTo(reference, row, context);
    return ratio === null ? "" : ratio < 0.995 ? `1/${factor(1 / ratio).slice(1)}` : factor(ratio);
  };
  const drawable = rows.filter((row) => row.median !== null);
  const known =
    quantity === "time"
      ? drawable
          .map((row) => ({ row, values: literatureOf(row, context.data) }))
          .filter(({ values }) => values.length > 0)
      : [];
  const published = context.state.published === "shown" ? known : [];
  const cited = [...new Set(published.flatMap(({ values }) => values))];
  const literature: Mark[] = published.flatMap(({ row, values }) =>
    values.map((value) => ({ ...value, key: row.key, nth: cited.indexOf(value) + 1 })),
  );
  const x = logAxis(
    [
      ...drawable.flatMap((row) => [row.median, row.low, row.high, row.min, row.p99]),
      ...literature.flatMap((mark) => [mark.low, mark.high]),
    ],
    quantity,
    context.width,
  );
  const end = (row: Row): string => {
    if (row.median === null) return "";
    const verdict = row.result.verdict === "verified" ? times(row) : row.result.verdict;
    return `${figures(row, quantity)}${row.result.unit === "switch" || quantity === "memory" ? "" : `/${row.result.unit}`}  ${verdict}`;
  };
  const picture =
    rows.length === 0
      ? null
      : rowPlot({
          items: lines(rows, context, (row) => ({ end: end(row), ...words(row) })),
          width: context.width,
          x,
          marks: (seat) => [
            ...literatureMarks(literature, x.domain as [number, number], seat),
            ...rowMarks(drawable, quantity, context, seat),
            reference?.median
              ? Plot.ruleX([reference.median], { stroke: "var(--text)", strokeDasharray: "1,3", strokeOpacity: 0.6 })
              : null,
            Plot.tip(
              drawable,
              Plot.pointerY({
                y: "key",
                x: "median",
                title: (row: Row) => summary(row, quantity),
                fill: "var(--paper)",
                stroke: "var(--line)",
                preferredAnchor: "top",
              }),
            ),
          ],
        });
  const onchange = (event: Event): void =>
    context.go({ published: (event.target as HTMLInputElement).checked ? "shown" : "" });
  const box = h("input", {
    id: `published-${experiment}`,
    type: "checkbox",
    checked: context.state.published === "shown",
    onchange,
  });
  const others =
    known.length > 0 &&
    h("label", { class: "field", for: `published-${experiment}` }, box, h("span", {}, "with published figures"));
  const byKey = new Map(rows.map((row) => [row.key, row]));
  picture?.addEventListener("click", (event) => {
    const row = byKey.get(rowAt(picture, event as MouseEvent) ?? "");
    if (row?.median) context.go({ against: row.label });
  });
  const choices: Choice[] = all
    .filter((row) => row.median !== null)
    .slice(0, 500)
    .map((row) => [row.label, row.label]);
  const chooser = select(`against-${experiment}`, "Factors relative to", choices, reference?.label ?? "", (against) =>
    context.go({ against }),
  );
  return figure({
    id: `ladder-${experiment}`,
    title: TITLES[experiment] ?? experiment,
    caption: `Dot: median over starts; bar: its 95 % interval${quantity === "time" ? "; full tick: the luckiest batch; dashed tick: 99th percentile of batches" : ", by the kernel's figures"}${cited.length > 0 ? "; faint diamonds: what others published, by number (other machine, other method)" : ""}. Hollow: not verified; the word says what. ${reference ? `× is the ratio of medians to ${reference.label} where the unit is the same; whether a difference can be trusted says the view Compare. A click on a row chooses another.` : ""}`,
    command: typed(context.run),
    n: counted(all),
    picture,
    extra: [choices.length > 1 ? chooser : null, others, pager],
    below:
      cited.length > 0 &&
      h(
        "ol",
        { class: "literature", "aria-label": "Published by others, by the numbers in the picture" },
        ...cited.map((value) => h("li", {}, where(value))),
      ),
    table: {
      head: [...context.data.columns.map((column) => column.title), "×", "published elsewhere", "notes", ""],
      rows: rows.map((row) => [
        ...row.detail.cells,
        times(row),
        literatureOf(row, context.data)
          .map((value) => told(value).replaceAll("\n", ", "))
          .join("; "),
        [row.result.reason, ...row.result.notes].filter(Boolean).join(" · "),
        row.median === null
          ? null
          : h(
              "button",
              {
                type: "button",
                "aria-label": `Factors relative to ${row.label}`,
                onclick: () => context.go({ against: row.label }),
              },
              "× 1",
            ),
      ]),
    },
  });
}
