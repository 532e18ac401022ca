//! In which recorded facts two runs differ, who watched a machine, and which machine it was.

use crate::{HARDWARE_FACTS, Machine, counts, hardware_key, is_known};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// How the names of facts begin that say who watches the machine, or takes part in how it is
/// scheduled.
const OBSERVER: &str = "observer.";

/// The observer that makes wake-ups cheaper, and nothing more expensive: who asks that idle CPUs
/// wake at once.
pub const IDLE_REQUEST: &str = "observer.cpu_dma_latency";

/// Patches of the running kernel that are on.
pub const LIVEPATCH: &str = "observer.livepatch";

/// What the kernel checks or counts at each switch.
pub const KERNEL_CHECKS: &str = "observer.kernel_checks";

/// No observer of a kind.
pub const NOBODY: &str = "none";

/// Facts that a run begins with and keeps, of its process, of observers and of the machine's
/// memory.
const OF_THE_RUN: &[&str] = &["process.", OBSERVER, MEMORY];

/// The kernel keeps another share of it at each boot.
const MEMORY: &str = "memory.total";

/// Soft limits of the process, in one fact.
const LIMITS: &str = "process.limits";

/// Limits that may change a cost. The others refuse, and a row that one of them refuses names it;
/// logins differ in them.
const COSTLY: [&str; 5] = ["stack size", "address space", "data size", "resident set", "cpu time"];

/// A limit that the fact does not list.
const UNLIMITED: &str = "unlimited";

/// Each boot measures it anew: equal machines differ in it by less than this fraction.
const MEASURED: [(&str, f64); 2] = [("clock.tsc_hz", 1e-3), (MEMORY, 0.03)];

/// The name of the host.
const HOST: &str = "host_name";

/// A recorded fact that two runs have with different values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Difference {
    /// Its name.
    pub fact: String,
    /// Its value in the first run.
    pub a: String,
    /// Its value in the second.
    pub b: String,
    /// It is of the hardware.
    pub hardware: bool,
}

impl Difference {
    /// It is of whom watched the machine.
    #[must_use]
    pub fn is_of_observers(&self) -> bool {
        self.fact.starts_with(OBSERVER)
    }

    /// The runs were not measured on one machine.
    #[must_use]
    pub fn is_of_machines(&self) -> bool {
        self.hardware || self.fact == HOST
    }

    /// It with values that are short enough to stand in a sentence.
    #[must_use]
    pub fn short(&self) -> Self {
        let (a, b) = apart(&self.a, &self.b);
        Self { a, b, ..self.clone() }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} → {}", self.fact, self.a, self.b)
    }
}

/// Every recorded fact that differs, those of the hardware first. What only one of the two could
/// read, or knows at all, does not count.
#[must_use]
pub fn differences(a: &Machine, b: &Machine) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut add = |fact: &str, a: &str, b: &str| {
        let (name, hardware) = (fact.to_owned(), counts(HARDWARE_FACTS, fact));
        let difference = || Difference { fact: name, a: a.to_owned(), b: b.to_owned(), hardware };
        all.extend((!agree(fact, a, b)).then(difference));
    };
    if let (Some(a), Some(b)) = (a.host(), b.host()) {
        add(HOST, a, b);
    }
    let lasting = a.drifting.iter().filter(|(name, _)| counts(OF_THE_RUN, name) && *name != LIMITS);
    for (facts, others) in [(a.stable.iter().collect::<Vec<_>>(), &b.stable), (lasting.collect(), &b.drifting)] {
        for (name, value) in facts {
            others.get(name).into_iter().for_each(|other| add(name, value, other));
        }
    }
    if let (Some(a), Some(b)) = (limits(a), limits(b)) {
        for name in COSTLY {
            let of = |limits: &BTreeMap<&str, &str>| limits.get(name).copied().unwrap_or(UNLIMITED).to_owned();
            add(&format!("limit of {name}"), &of(&a), &of(&b));
        }
    }
    all.sort_by_key(|difference| !difference.hardware);
    all
}

/// Soft limits by name; None: they could not be read.
fn limits(machine: &Machine) -> Option<BTreeMap<&str, &str>> {
    let fact = machine.drifting.get(LIMITS).filter(|fact| is_known(fact))?;
    Some(fact.split(", ").filter_map(|limit| limit.rsplit_once(' ')).collect())
}

/// Two values of a fact do not differ: one of them is not known, unless somebody was seen to watch
/// in the other, or they are one but for how exactly that is measured.
#[must_use]
pub fn agree(fact: &str, a: &str, b: &str) -> bool {
    let number = |value: &str| value.trim_start_matches("about ").split(' ').next()?.parse::<f64>().ok();
    let within = |bound: f64| number(a).zip(number(b)).is_some_and(|(a, b)| (a / b - 1.0).abs() < bound);
    let nearly = MEASURED.iter().any(|(name, bound)| *name == fact && within(*bound));
    // Earlier versions recorded every model, with that in force in brackets.
    let listed = |all: &str, one: &str| fact == "kernel.preempt_mode" && all.contains(&format!("({one})"));
    let same = a == b || listed(a, b) || listed(b, a);
    if fact.starts_with(OBSERVER) && is_known(a) != is_known(b) {
        return [a, b].contains(&NOBODY);
    }
    same || !is_known(a) || !is_known(b) || nearly
}

impl Machine {
    /// The host, where it is known; that of a container is another for each start.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        let outside = self.stable.get("container").is_none_or(|container| container == "none seen");
        self.personal.get(HOST).filter(|host| outside && is_known(host)).map(String::as_str)
    }

    /// What a history is of: the key of its hardware, and behind an @ the host, where that is
    /// known.
    #[must_use]
    pub fn id(&self) -> String {
        let key = hardware_key(&self.stable);
        self.host().map_or_else(|| key.clone(), |host| format!("{key}@{host}"))
    }

    /// The processor below a program that was translated.
    #[must_use]
    pub fn translated(&self) -> Option<&str> {
        self.stable.get("cpu.translated").filter(|below| is_known(below) && *below != NOBODY).map(String::as_str)
    }

    /// Who watched it, or took part in how it was scheduled, by kind: `tracing: sched:sched_switch;
    /// …`. Empty: nobody who could be seen.
    #[must_use]
    pub fn watchers(&self) -> String {
        self.observers_but(&[IDLE_REQUEST])
    }

    /// Those of them that may take CPU time beside a probe. What a patched kernel or one that
    /// checks itself costs is the probe's own, and counted as its own.
    #[must_use]
    pub fn watchers_beside(&self) -> String {
        self.observers_but(&[IDLE_REQUEST, LIVEPATCH, KERNEL_CHECKS])
    }

    fn observers_but(&self, left_out: &[&str]) -> String {
        let clause = |(name, who): (&String, &String)| {
            let kind = name.strip_prefix(OBSERVER).filter(|_| !left_out.contains(&name.as_str()))?;
            (is_known(who) && who != NOBODY).then(|| format!("{}: {who}", kind.replace('_', " ")))
        };
        self.drifting.iter().filter_map(clause).collect::<Vec<_>>().join("; ")
    }
}

/// Two values, each without the long beginning that both share, and short enough to stand in one
/// line.
#[must_use]
pub fn apart(a: &str, b: &str) -> (String, String) {
    /// A shared beginning that is longer says nothing of the difference.
    const SHARED: usize = 12;
    /// Longest value.
    const LONGEST: usize = 24;
    let shared: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let long = a.len().max(b.len()) > LONGEST && shared > SHARED;
    let rest = |value: &str| {
        let rest = if long { format!("..{}", &value[shared..]) } else { value.to_owned() };
        cut(&rest, LONGEST)
    };
    (rest(a), rest(b))
}

/// At most so many bytes of a text; a cut shows.
#[must_use]
pub fn cut(text: &str, bytes: usize) -> String {
    const MARK: &str = "..";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let room = bytes.saturating_sub(MARK.len());
    let end = (0..=room).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}{MARK}", &text[..end]).chars().take(bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(stable: &[(&str, &str)], drifting: &[(&str, &str)], host: &str) -> Machine {
        let map = |facts: &[(&str, &str)]| {
            facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<BTreeMap<_, _>>()
        };
        let (stable, drifting, personal) = (map(stable), map(drifting), map(&[(HOST, host)]));
        Machine { stable, drifting, personal, findings: Vec::new() }
    }

    fn said(a: &Machine, b: &Machine) -> Vec<String> {
        differences(a, b).iter().map(Difference::to_string).collect()
    }

    #[test]
    fn every_fact_that_both_runs_know_is_named_and_no_other() {
        let a = machine(
            &[("kernel.preempt_mode", "full"), ("cpu.model", "207"), ("kernel.lsm", "unknown: no right")],
            &[("process.limits", "stack size 8388608, open files 1024"), ("load.one_minute", "1")],
            "a",
        );
        let mut b = a.clone();
        assert!(said(&a, &b).is_empty());
        b.stable.insert("kernel.preempt_mode".into(), "lazy".into());
        b.stable.insert("kernel.lsm".into(), "yama".into());
        b.stable.insert("cpu.model".into(), "85".into());
        b.stable.insert("new.fact".into(), "1".into());
        b.drifting.insert("process.limits".into(), "open files 20000".into());
        b.drifting.insert("load.one_minute".into(), "7".into());
        b.drifting.insert("observer.tracing".into(), "sched:sched_switch".into());
        b.personal.insert(HOST.into(), "b".into());
        let expected = [
            "cpu.model: 207 → 85",
            "host_name: a → b",
            "kernel.preempt_mode: full → lazy",
            "limit of stack size: 8388608 → unlimited",
        ];
        assert_eq!(said(&a, &b), expected);
        assert_eq!(differences(&a, &b).iter().filter(|one| one.hardware).count(), 1);
    }

    #[test]
    fn a_counter_that_each_boot_measures_anew_is_no_other_hardware() {
        let of = |hz: &str| machine(&[("clock.tsc_hz", hz)], &[], "a");
        assert!(said(&of("2600012000 (cpuid 0x40000010)"), &of("2599996000 (cpuid 0x40000010)")).is_empty());
        assert_eq!(said(&of("about 2600000000 (x)"), &of("2900000000 (y)")).len(), 1);
        assert!(agree("kernel.preempt_mode", "none voluntary (full) lazy", "full"));
        assert!(!agree("kernel.preempt_mode", "none voluntary (full) lazy", "lazy"));
        // Whoever could not look may have been watched too; that nobody was is not known.
        let (hidden, seen) = ("unknown: tracefs is not mounted", "sched:sched_switch");
        assert!(agree("observer.tracing", hidden, "none") && agree("observer.tracing", hidden, hidden));
        assert!(!agree("observer.tracing", hidden, seen) && !agree("observer.tracing", seen, hidden));
    }

    #[test]
    fn a_machine_is_hardware_and_host_where_that_is_known() {
        let of = |host: &str, container: &str| machine(&[("container", container)], &[], host);
        assert!(of("a", "none seen").id().ends_with("@a"));
        assert_eq!(of("0a1b2c3d4e5f", "docker").host(), None);
        assert_eq!(of("unknown: gone", "none seen").host(), None);
        assert!(said(&of("a", "docker"), &of("b", "docker")).is_empty());
    }

    #[test]
    fn who_watches_is_told_by_kind_and_who_keeps_cpus_awake_is_none() {
        let watched = machine(
            &[],
            &[("observer.tracer", "strace"), ("observer.bpf", "none"), (IDLE_REQUEST, "tuned"), ("uptime_s", "1")],
            "a",
        );
        assert_eq!(watched.watchers(), "tracer: strace");
        let patched = machine(&[], &[(LIVEPATCH, "fix"), (KERNEL_CHECKS, "CONFIG_KASAN")], "a");
        assert_eq!(patched.watchers(), "kernel checks: CONFIG_KASAN; livepatch: fix");
        assert_eq!((patched.watchers_beside(), watched.watchers_beside()), (String::new(), watched.watchers()));
        assert_eq!(machine(&[], &[("observer.bpf", "unknown: no right")], "a").watchers(), "");
    }

    #[test]
    fn long_values_are_told_apart_by_where_they_differ() {
        let (now, then) =
            apart("Mitigation: Retpolines; STIBP: disabled; RSB filling", "Mitigation: Retpolines; STIBP: on");
        assert_eq!((now.as_str(), then.as_str()), ("..disabled; RSB filling", "..on"));
    }
}
