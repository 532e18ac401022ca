# Bencher Metric Format, version 0: https://bencher.dev/docs/reference/bencher-metric-format
def name: "\(.mechanism)/probe=\(.probe)/experiment=\(.experiment)/contexts=\(.contexts)"
    + "/timing=\(.timing)"
    + ([.parameters | to_entries[] | "/\(.key)=\(.value | gsub("/"; "_"))"] | add // "")
    + "/placement=\(.placement)" | gsub(" "; "_");
[.results[] | select(.verdict | IN("verified", "unobservable")) | name as $name
  | (if .quantity == "time" then "latency" else .quantity end) as $measure
  | (.modes | to_entries[] | {"\($name)/mode=\(.key + 1)": {($measure): {value: .value[0]}}}),
    (select(.median) | {($name): {($measure):
      ({value: .median, lower_value: .low, upper_value: .high} | del(.[] | nulls))}})
] | add
