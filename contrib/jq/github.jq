# What github-action-benchmark takes with tool: customSmallerIsBetter.
def name: "\(.mechanism)/probe=\(.probe)/experiment=\(.experiment)/contexts=\(.contexts)"
    + "/timing=\(.timing)"
    + ([.parameters | to_entries[] | "/\(.key)=\(.value | gsub("/"; "_"))"] | add // "")
    + "/placement=\(.placement)" | gsub(" "; "_");
def fixed: (. * 1000 | round | tostring | "0000"[:[4 - length, 0] | max] + .)
    | .[:-3] + "." + .[-3:];
[.run.id as $run | .results[] | select(.verdict | IN("verified", "unobservable")) | . as $row
  | ({time: "ns", memory: "B"}[.quantity] // .quantity) as $unit
  | ((.modes | to_entries[] |
        [.value[0], "/mode=\(.key + 1)", ", \(.value[1] * 100 | round) % of its \($row.modes_of)"]),
     (.median | values | [., "", ""])) as [$value, $mode, $share]
  | {name: (name + $mode), unit: "\($unit)/\(.unit)", value: $value}
    + if .low then {range: "± \((.high - .low) / 2 | fixed)"} else {} end
    + {extra: "run \($run), \(.starts) starts, \([.verdict, .conditions[].condition] | join(", "))\($share)"}]
