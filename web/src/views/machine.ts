import { type Context, typed } from "../context";
import type { Finding } from "../page";
import { h, table } from "../dom";
import { figure } from "../figure";

const RANK = ["warning", "note", "fine"];

const told = (findings: Finding[]): HTMLElement =>
  h(
    "ul",
    { class: "findings" },
    ...findings.map(({ severity, what, effect, cure, id }) =>
      h(
        "li",
        { class: RANK.includes(severity) ? severity : "note" },
        h("strong", {}, `${severity}: `),
        what,
        effect && h("p", {}, `Effect: ${effect}`),
        cure && h("p", {}, `Cure: ${cure}`),
        h("small", {}, id),
      ),
    ),
  );

/** The machine, and what makes its figures untrustworthy. */
export function machine(context: Context): HTMLElement[] {
  const { machine, run, results } = context.run.data;
  const findings = [...machine.findings].sort((a, b) => RANK.indexOf(a.severity) - RANK.indexOf(b.severity));
  const fine = findings.filter((finding) => finding.severity === "fine");
  const facts = (title: string, of: Record<string, string>): HTMLElement | null =>
    Object.keys(of).length === 0
      ? null
      : h(
          "section",
          {},
          h("h3", {}, title),
          table({ head: ["fact", "value"], rows: Object.entries(of).map(([fact, value]) => [fact, value]) }, title),
        );
  const builds = new Map(results.flatMap((result) => (result.build ? [[result.probe, result.build] as const] : [])));
  const built = table(
    {
      head: ["probe", "version", "runtime", "compiler", "flags", "clock"],
      rows: [...builds].map(([probe, build]) => [
        probe,
        build.version,
        build.runtime,
        build.compiler ?? "–",
        build.flags ?? "–",
        build.clock,
      ]),
    },
    "Probes and their builds",
  );
  const about: [string, string][] = [
    ["run", run.id],
    ["started", run.started],
    ["ended", run.ended ?? "stopped early"],
    ["ended by", run.ended_by],
    ["switchcost", run.tool_version],
    ["method", String(run.method_version)],
    ["seed", String(run.seed)],
    ["command", typed(context.run)],
    ["read from", context.run.data.source],
  ];
  return [
    figure({
      id: "findings",
      title: "What limits figures of this machine",
      caption: "As `switchcost doctor` saw it when the run began: the finding, its effect on figures, and the cure.",
      command: typed(context.run),
      n: `${findings.length} findings`,
      picture: null,
      extra:
        findings.length === 0
          ? []
          : [
              told(findings.filter((finding) => finding.severity !== "fine")),
              fine.length > 0 &&
                h(
                  "details",
                  {},
                  h("summary", {}, `${fine.length} other ${fine.length === 1 ? "check" : "checks"} passed`),
                  told(fine),
                ),
            ],
      table: {
        head: ["severity", "what", "effect", "cure"],
        rows: findings.map((finding) => [finding.severity, finding.what, finding.effect, finding.cure]),
      },
    }),
    h("section", {}, h("h3", {}, "The run"), table({ head: ["fact", "value"], rows: about }, "The run")),
    h("section", {}, h("h3", {}, "Probes"), built),
    ...[
      facts("Stable facts", machine.stable),
      facts("Facts that change from minute to minute", machine.drifting),
      facts("Host", machine.personal),
    ].filter((part) => part !== null),
  ];
}
