//! What changed on the watched CPUs, and what of it is a disturbance.

use std::time::Duration;
use switchcost_model::Disturbance;

/// Foreign CPU time counts from this on where every CPU's busy time is known in ns
/// (`cpuacct.usage_percpu` of the machine's root group): it lags by at most one scheduler tick, 10
/// ms at the slowest (HZ=100).
const PRECISE_FLOOR_NS: f64 = 12e6;

/// How long a watch has been running, and what happened meanwhile.
pub(crate) type SoFar<'a> = &'a dyn Fn() -> (Duration, Change);

/// What happened on the watched CPUs between two readings.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Change {
    /// CPU time taken away by the hypervisor.
    pub steal_ns: Option<u64>,
    /// CPU time used, by whomever, not counting the host itself.
    pub busy_ns: Option<u64>,
    /// Busy time is known in ns.
    pub precise: bool,
    /// Quotas and heat that stopped or slowed a CPU, and limits of the frequency that were changed:
    /// these always count.
    pub always: Vec<Disturbance>,
}

/// The rules. `probe_ns`: CPU time of the probe and of what was beside it; None: nobody knows it,
/// so that what others used is not known either.
pub(crate) fn disturbances(change: &Change, probe_ns: Option<u64>, wall: Duration, cpus: usize) -> Vec<Disturbance> {
    let of_ns = wall.as_nanos() as u64 * cpus.max(1) as u64;
    let limit = |floor| Disturbance::least_ns(of_ns as f64, floor) as u64;
    let steal =
        change.steal_ns.filter(|&ns| ns >= limit(Disturbance::FLOOR_NS)).map(|ns| Disturbance::Steal { ns, of_ns });
    let foreign = change.busy_ns.zip(probe_ns).map(|(busy, own)| busy.saturating_sub(own));
    let least = limit(if change.precise { PRECISE_FLOOR_NS } else { Disturbance::FLOOR_NS });
    let foreign = foreign.filter(|&ns| ns >= least).map(|ns| Disturbance::ForeignCpu { ns, of_ns });
    steal.into_iter().chain(foreign).chain(change.always.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_model::Throttle;

    const MS: u64 = 1_000_000;

    fn kinds(change: &Change, probe_ms: u64, wall_ms: u64, cpus: usize) -> Vec<String> {
        let found = disturbances(change, Some(probe_ms * MS), Duration::from_millis(wall_ms), cpus);
        found.iter().map(Disturbance::kind).collect()
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
        let quota = Disturbance::Throttled(Throttle::Quota { times: 1, ns: 1 });
        let change = Change { always: vec![quota], ..Change::default() };
        assert_eq!(kinds(&change, 1, 1, 1), ["throttled"]);
        assert!(kinds(&Change::default(), 1, 1, 1).is_empty());
    }
}
