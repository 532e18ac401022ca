//! What this process has of its parent's and cannot give back, as probes get it: the rows of
//! docs/notebook/inherited.md that are facts.

use super::{Facts, Live};
use crate::os::host::{Host, unknown};
use crate::os::scheduling;
use crate::os::stat::Stat;

pub(super) fn gather(host: &Host, live: &Live, facts: &mut Facts) {
    let (class, nice) = class_and_nice(host);
    facts.put("process.class", class);
    facts.put("process.nice", nice);
    let cpus = host.status().remove("Cpus_allowed_list");
    facts.put("process.cpus", cpus.unwrap_or_else(|| unknown("/proc/self/status has no line `Cpus_allowed_list`")));
    facts.put("process.personality", personality(host));
    facts.put("process.limits", limits(host));
    facts.put("process.written_memory", if live.executable { "may be executed" } else { "may not be executed" });
    facts.put("process.memory_policy", memory_policy(host));
    facts.put("process.oom_score_adj", host.fact("/proc/self/oom_score_adj"));
    let large = host.status().remove("THP_enabled");
    facts.put("process.huge_pages", large.unwrap_or_else(|| unknown("/proc/self/status has no line `THP_enabled`")));
}

/// Of the scheduler.
pub(crate) fn class_and_nice(host: &Host) -> (String, String) {
    let stat = host.read("/proc/self/stat").unwrap_or_default();
    let stat = Stat::of(&stat);
    let missing = || unknown("/proc/self/stat does not say");
    let class = stat.as_ref().and_then(Stat::policy).map(scheduling::word);
    let nice = stat.as_ref().and_then(Stat::nice).map(|nice| nice.to_string());
    (class.unwrap_or_else(missing), nice.unwrap_or_else(missing))
}

/// Bits of personality(2), 0 for an ordinary one.
pub(crate) fn personality(host: &Host) -> String {
    let text = host.fact("/proc/self/personality");
    u32::from_str_radix(&text, 16).map_or(text, |bits| format!("{bits:#x}"))
}

/// Where memory is taken from, as `numactl` sets it.
pub(crate) fn memory_policy(host: &Host) -> String {
    let maps = host.read("/proc/self/numa_maps");
    let first = maps.as_deref().ok().and_then(|maps| maps.split_ascii_whitespace().nth(1));
    first.map_or_else(|| unknown("/proc/self/numa_maps does not say"), str::to_owned)
}

/// Soft limits that are limits.
fn limits(host: &Host) -> String {
    let text = match host.read("/proc/self/limits") {
        Ok(text) => text,
        Err(reason) => return unknown(reason),
    };
    let limit = |line: &str| {
        let (name, rest) = line.strip_prefix("Max ")?.split_once("  ")?;
        let soft = rest.split_ascii_whitespace().next().filter(|soft| *soft != "unlimited")?;
        Some(format!("{name} {soft}"))
    };
    let set: Vec<String> = text.lines().filter_map(limit).collect();
    if set.is_empty() { "none".to_owned() } else { set.join(", ") }
}
