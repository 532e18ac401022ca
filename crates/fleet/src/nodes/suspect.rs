//! What a pattern of odd rows points to.

use super::facts::FactDifference;
use crate::passage::Passage;
use switchcost_model::counts;

/// A cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspect {
    /// Frequency or heat.
    Clock,
    /// Another kernel.
    Kernel,
    /// Other mitigations.
    Mitigations,
    /// Idle states.
    IdleStates,
    /// Which CPUs are near one another.
    Topology,
    /// More control groups above the processes.
    CgroupDepth,
    /// A quota of CPU time.
    Quota,
    /// Somebody else runs on the node, or beside it.
    Neighbour,
    /// Another C library.
    Library,
    /// Nothing that is known fits.
    Unknown,
}

/// Facts and what they point to, the most telling first.
const BY_FACTS: &[(&[&str], Suspect)] = &[
    (&["kernel."], Suspect::Kernel),
    (&["cpu.microcode", "mitigations", "vulnerability."], Suspect::Mitigations),
    (&["cgroup.cpu_quota"], Suspect::Quota),
    (&["cgroup.cpu_depth", "cgroup.version", "container", "security.seccomp"], Suspect::CgroupDepth),
    (&["clock.source", "clock.tsc_flags", "cpufreq."], Suspect::Clock),
    (&["cpuidle."], Suspect::IdleStates),
    (&["cpu.smt", "topology."], Suspect::Topology),
    (&["libc"], Suspect::Library),
];

impl Suspect {
    /// A word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Kernel => "kernel",
            Self::Mitigations => "mitigations",
            Self::IdleStates => "idle states",
            Self::Topology => "topology",
            Self::CgroupDepth => "cgroup depth",
            Self::Quota => "cgroup quota",
            Self::Neighbour => "neighbour",
            Self::Library => "C library",
            Self::Unknown => "unknown",
        }
    }

    /// What would confirm it.
    #[must_use]
    pub fn confirm(self) -> &'static str {
        match self {
            Self::Clock => {
                "compare frequency, governor and temperature under load: `turbostat`, `cpupower frequency-info`, the BMC's log"
            }
            Self::Kernel => "compare `uname -a` and /proc/cmdline; boot the other kernel and measure again",
            Self::Mitigations => "compare /sys/devices/system/cpu/vulnerabilities and the microcode in /proc/cpuinfo",
            Self::IdleStates => {
                "compare `cpupower idle-info`; measure again with the deep states disabled (`cpupower idle-set -D 2`)"
            }
            Self::Topology => "compare `lscpu -e`, the BIOS's NUMA settings and the CPUs that the job got",
            Self::CgroupDepth => "compare /proc/self/cgroup of the job; measure again outside the job's group",
            Self::Quota => "read cpu.max and nr_throttled in cpu.stat of the job's cgroup and of those above it",
            Self::Neighbour => {
                "look for other processes (`top`) and for steal (`vmstat 1`); measure again when the node is empty"
            }
            Self::Library => "compare `ldd --version`",
            Self::Unknown => "measure the node again, and compare `switchcost doctor -v` with that of another node",
        }
    }

    /// By a fact that differs.
    fn by_fact(name: &str) -> Option<(usize, Self)> {
        let place = BY_FACTS.iter().position(|(facts, _)| counts(facts, name))?;
        Some((place, BY_FACTS[place].1))
    }
}

/// Difference of the rows that go through something, and in how many spreads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signature {
    pub through: Passage,
    pub difference: f64,
    pub spreads: f64,
}

/// What is known of an odd node.
#[derive(Default)]
pub(super) struct Known<'k> {
    pub facts: &'k [FactDifference],
    pub signature: &'k [Signature],
    /// Rows were stopped for longer than elsewhere.
    pub stopped: bool,
    /// The clock is another than elsewhere.
    pub clock: bool,
    /// Rows cost more or less than elsewhere.
    pub costs: bool,
    /// Share of starts that a quota was seen to stop.
    pub throttled: f64,
    /// Share of starts that somebody else disturbed.
    pub neighbours: f64,
}

/// The first suspect.
pub(super) fn suspect(known: &Known<'_>) -> Suspect {
    let mut by_facts: Vec<(usize, Suspect)> =
        known.facts.iter().filter_map(|fact| Suspect::by_fact(&fact.name)).collect();
    by_facts.sort_unstable();
    let has = |suspect: Suspect| by_facts.iter().any(|(_, fact)| *fact == suspect);
    if has(Suspect::Quota) || known.throttled > 0.1 {
        return Suspect::Quota;
    }
    if let Some((_, first)) = by_facts.first() {
        return *first;
    }
    match (known.stopped || known.neighbours > 0.5, known.costs) {
        (true, _) => Suspect::Neighbour,
        (false, _) if known.clock => Suspect::Clock,
        (false, true) => by_rows(known.signature),
        (false, false) => Suspect::Unknown,
    }
}

/// By the rows alone: how far down they go through what is odd.
fn by_rows(signature: &[Signature]) -> Suspect {
    let of = |through: Passage| signature.iter().find(|one| one.through == through);
    // Half of the largest difference, and beyond chance, is part of the pattern.
    let largest = signature.iter().filter(|one| one.spreads.abs() > 2.0).map(|one| one.difference.abs());
    let largest = largest.fold(0.0, f64::max);
    let odd = |through: Passage| {
        of(through).is_some_and(|one| one.spreads.abs() > 2.0 && one.difference.abs() > 0.02_f64.max(largest / 4.0))
    };
    let by = [Passage::Core, Passage::Entry, Passage::Switch, Passage::Group, Passage::Wake, Passage::Cache].map(odd);
    match by {
        [true, true, ..] | [true, _, true, ..] => Suspect::Clock,
        [_, true, false, ..] => Suspect::Mitigations,
        [_, true, true, ..] => Suspect::Kernel,
        [_, false, true, true, ..] | [_, false, false, true, ..] => Suspect::CgroupDepth,
        [_, false, true, ..] => Suspect::Kernel,
        [_, false, false, false, true, false] => Suspect::IdleStates,
        [_, false, false, false, _, true] => Suspect::Topology,
        [true, ..] => Suspect::Clock,
        _ => Suspect::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(odd: &[Passage]) -> Suspect {
        let all = [Passage::Core, Passage::Entry, Passage::Switch, Passage::Group, Passage::Wake, Passage::Cache];
        let signature: Vec<Signature> = all
            .iter()
            .map(|&through| {
                let size = if odd.contains(&through) { 0.1 } else { 0.001 };
                Signature { through, difference: size, spreads: size * 100.0 }
            })
            .collect();
        suspect(&Known { signature: &signature, costs: true, ..Known::default() })
    }

    #[test]
    fn patterns_name_their_suspects() {
        use Passage::{Cache, Core, Entry, Group, Switch, Wake};
        assert_eq!(rows(&[Core, Entry, Switch, Group, Wake, Cache]), Suspect::Clock);
        assert_eq!(rows(&[Entry, Switch, Group]), Suspect::Kernel);
        assert_eq!(rows(&[Entry]), Suspect::Mitigations);
        assert_eq!(rows(&[Switch, Group]), Suspect::CgroupDepth);
        assert_eq!(rows(&[Group]), Suspect::CgroupDepth);
        assert_eq!(rows(&[Wake]), Suspect::IdleStates);
        assert_eq!(rows(&[Wake, Cache]), Suspect::Topology);
        assert_eq!(rows(&[]), Suspect::Unknown);
    }

    #[test]
    fn facts_come_before_patterns() {
        let fact = |name: &str| FactDifference {
            name: name.to_owned(),
            value: "a".into(),
            common: "b".into(),
            common_nodes: 9,
        };
        let of = |names: &[&str], stopped, throttled| {
            let facts: Vec<FactDifference> = names.iter().map(|name| fact(name)).collect();
            suspect(&Known { facts: &facts, stopped, throttled, ..Known::default() })
        };
        assert_eq!(of(&["kernel.release", "vulnerability.retbleed"], false, 0.0), Suspect::Kernel);
        assert_eq!(of(&["cgroup.cpu_depth"], false, 0.0), Suspect::CgroupDepth);
        assert_eq!(of(&["cgroup.cpu_depth", "cgroup.cpu_quota"], true, 0.0), Suspect::Quota);
        assert_eq!(of(&[], true, 0.5), Suspect::Quota);
        assert_eq!(of(&[], true, 0.0), Suspect::Neighbour);
        assert_eq!(of(&["libc"], false, 0.0), Suspect::Library);
    }
}
