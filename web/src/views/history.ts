import * as Plot from "@observablehq/plot";
import { type Context, colour, typed } from "../context";
import { cost, inCommon, machineName, moment, ofOneMachine, type Row, type Run } from "../data";
import { type Choice, select } from "../dom";
import { figure, nothing } from "../figure";
import { amount } from "../format";
import { axes, drawn, intervals, logAxis } from "../rowplot";
import { focus } from "./common";

interface Dot {
  run: Run;
  row: Row;
  kernel: string;
}

const kernel = (run: Run): string => run.data.machine.stable["kernel.release"] ?? "unknown kernel";

/** One row over the runs of one machine, oldest first. */
export function history(context: Context): HTMLElement[] {
  const runs = ofOneMachine(context.run, context.runs).sort((a, b) =>
    a.data.run.started.localeCompare(b.data.run.started),
  );
  const often = inCommon(runs);
  const row = focus(context, (row) => often.has(row.label));
  if (!row)
    return [
      nothing(
        "No row here was measured in two runs of this machine. To make a history:",
        "switchcost report latest~2 latest~1 latest",
        "switchcost history thread/pipe",
      ),
    ];
  const dots = often.get(row.label)!.map((one) => ({ ...one, kernel: kernel(one.run) }));
  const choices: Choice[] = [...often.keys()].slice(0, 500).map((label) => [label, label]);
  return [one(context, row, dots, choices)];
}

function one(context: Context, row: Row, dots: Dot[], choices: Choice[]): HTMLElement {
  // In order and at equal distances: runs come in heaps, and a heap would be one mark.
  const points = dots.map((dot, nth) => ({ ...dot, nth }));
  type Point = (typeof points)[number];
  const changes = points.filter((point, i) => i > 0 && points[i - 1]!.kernel !== point.kernel);
  const y = logAxis(
    points.flatMap(({ row }) => [...row.figures, row.low, row.high]),
    row.quantity,
    320,
  );
  const every = Math.ceil(points.length / Math.max(2, Math.floor(context.width / 110)));
  const paint = colour(row.family, context.data);
  const picture = drawn({
    width: context.width,
    height: 340,
    marginLeft: 68,
    marginTop: 30,
    marginRight: 40,
    marginBottom: 48,
    x: { type: "linear", domain: [-0.5, points.length - 0.5], axis: null },
    y: { ...y, axis: null },
    style: { fontSize: "12px", overflow: "visible" },
    marks: [
      Plot.gridY({ ticks: y.ticks, stroke: "var(--line)", strokeOpacity: 1 } as Plot.GridYOptions),
      ...axes({ y }),
      Plot.axisX(
        points.filter((_, i) => i % every === 0).map((point) => point.nth),
        {
          text: (nth: number) => moment(points[nth]!.run).replace(", ", "\n"),
          tickSize: 4,
          label: null,
        } as Plot.AxisXOptions,
      ),
      Plot.ruleX(changes, { x: (point: Point) => point.nth - 0.5, stroke: "var(--text)", strokeDasharray: "3,3" }),
      Plot.text(changes, {
        x: (point: Point) => point.nth - 0.5,
        frameAnchor: "top",
        dy: -14,
        text: (point: Point) => `kernel ${point.kernel}`,
        fill: "var(--faint)",
      }),
      Plot.line(points, { x: "nth", y: ({ row }: Point) => row.median, stroke: paint, strokeOpacity: 0.4 }),
      intervals(
        points.map(({ nth, row: { low, high } }) => ({ nth, low, high })),
        paint,
        { x: "nth" },
      ),
      Plot.dot(
        points.flatMap(({ nth, row }) => row.figures.map((value) => ({ nth, value }))),
        { x: "nth", y: "value", r: 4.5, fill: paint },
      ),
    ],
  });
  return figure({
    id: "history",
    title: `${row.label} over ${points.length} runs`,
    caption: `Medians with 95 % intervals, oldest run first, of ${machineName(context.run)}. Dashed: another kernel. Whether and when the level changed: \`switchcost history '${row.label}'\`.`,
    command: [...new Set(points.map(({ run }) => typed(run)))].slice(0, 4).join("; "),
    n: `${points.length} runs`,
    picture,
    tools: [select("row-history", "Row", choices, row.label, (row) => context.go({ row }))],
    table: {
      head: ["run", "started", "kernel", "median", "95 % interval", "result"],
      rows: points.map(({ run, row, kernel }) => [
        run.key,
        moment(run),
        kernel,
        cost(row),
        row.low === null ? "–" : `${amount(row.low, row.quantity)} – ${amount(row.high, row.quantity)}`,
        row.result.verdict,
      ]),
    },
  });
}
