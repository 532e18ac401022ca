//! What changed on the watched CPUs, and what of it is a disturbance.

use std::time::Duration;
use switchcost_model::Disturbance;

/// Steal and foreign CPU time count from this on, whatever the length of the invocation: `/proc/stat` counts in steps
/// of 10 ms, and the difference of two readings may be a step too high, so one step proves nothing and two do.
pub const FLOOR: Duration = Duration::from_millis(20);

/// From this share on, of the CPU time that the measured CPUs had (their number × wall time). A disturbance of 5 %
/// moves a mean by as much; a median of batches stands it, but not much more.
pub const SHARE: f64 = 0.05;

/// Foreign CPU time counts from this on where every CPU's busy time is known in ns (`cpuacct.usage_percpu` of the
/// machine's root group): it lags by at most one scheduler tick, 10 ms at the slowest (HZ=100).
pub const PRECISE_FLOOR: Duration = Duration::from_millis(12);

/// What happened on the watched CPUs between two readings.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Change {
    /// CPU time taken away by the hypervisor.
    pub steal_ns: Option<u64>,
    /// CPU time used, by whomever, not counting the host itself.
    pub busy_ns: Option<u64>,
    /// Busy time is known in ns.
    pub precise: bool,
    /// Sentences on quotas and heat that stopped or slowed the CPU.
    pub throttled: Vec<String>,
    /// Sentences on limits of the frequency that were changed.
    pub frequency: Vec<String>,
}

/// The rules. `probe_ns`: CPU time of the probe and of what was beside it; None: nobody knows it, so that what others used is not known either.
pub(crate) fn disturbances(change: &Change, probe_ns: Option<u64>, wall: Duration, cpus: usize) -> Vec<Disturbance> {
    let capacity = wall.as_nanos() as f64 * cpus.max(1) as f64;
    let limit = |floor: Duration| (capacity * SHARE).max(floor.as_nanos() as f64) as u64;
    let of =
        |ns: u64| format!("{:.0} ms, {:.1} % of the CPU time there was", ns as f64 / 1e6, ns as f64 / capacity * 100.0);
    let mut found = Vec::new();
    let mut add = |kind: &str, detail: String| found.push(Disturbance { kind: kind.to_owned(), detail });
    if let Some(steal) = change.steal_ns.filter(|&steal| steal >= limit(FLOOR)) {
        add("steal", format!("the hypervisor took {}", of(steal)));
    }
    let foreign = change.busy_ns.zip(probe_ns).map(|(busy, own)| busy.saturating_sub(own));
    let least = limit(if change.precise { PRECISE_FLOOR } else { FLOOR });
    if let Some(foreign) = foreign.filter(|&foreign| foreign >= least) {
        add("foreign_cpu", format!("other processes used {}", of(foreign)));
    }
    for detail in &change.throttled {
        add("throttled", detail.clone());
    }
    for detail in &change.frequency {
        add("frequency", detail.clone());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn kinds(change: &Change, probe_ms: u64, wall_ms: u64, cpus: usize) -> Vec<String> {
        let found = disturbances(change, Some(probe_ms * MS), Duration::from_millis(wall_ms), cpus);
        assert!(found.iter().all(|d| !d.detail.is_empty()));
        found.into_iter().map(|d| d.kind).collect()
    }

    #[test]
    fn one_step_of_the_clock_is_no_disturbance() {
        let tick = Change { steal_ns: Some(10 * MS), busy_ns: Some(70 * MS), ..Change::default() };
        assert!(kinds(&tick, 60, 62, 1).is_empty());
        let two = Change { steal_ns: Some(20 * MS), busy_ns: Some(81 * MS), ..Change::default() };
        assert_eq!(kinds(&two, 60, 100, 1), ["steal", "foreign_cpu"]);
    }

    #[test]
    fn the_share_rules_in_long_invocations() {
        let change = Change { steal_ns: Some(90 * MS), busy_ns: Some(2080 * MS), ..Change::default() };
        assert!(kinds(&change, 2000, 2100, 1).is_empty());
        assert_eq!(kinds(&change, 1900, 1700, 1), ["steal", "foreign_cpu"]);
        // Twice the CPUs, twice the time there was.
        assert!(kinds(&change, 1950, 1700, 2).is_empty());
    }

    #[test]
    fn who_used_nobody_knows_how_much_lets_nobody_say_what_others_used() {
        let busy = Change { busy_ns: Some(900 * MS), ..Change::default() };
        let of = |own| disturbances(&busy, own, Duration::from_millis(1000), 1).len();
        assert_eq!((of(Some(0)), of(None)), (1, 0));
    }

    #[test]
    fn throttling_and_changed_limits_always_count() {
        let change = Change { throttled: vec!["a".to_owned()], frequency: vec!["b".to_owned()], ..Change::default() };
        assert_eq!(kinds(&change, 1, 1, 1), ["throttled", "frequency"]);
        assert!(kinds(&Change::default(), 1, 1, 1).is_empty());
    }
}
