//! Times that share a wake-up: a waiter that is late by more than a period finds the next time due
//! as well, late by a period less, and so on. What the kernel counts and what the latencies say of
//! such chains must agree.

use super::super::super::case::Case;
use super::used;
use crate::series::ns_per_counter_tick;
use switchcost_model::{Load, Reason};

/// Where its latencies begin and end, ns, and how many there are.
type Bucket = (f64, f64, u64);

/// Fewer are late than had no wake-up of their own, or they are not a period apart.
pub(super) fn broken(case: &Case<'_>, load: &Load) -> Option<Reason> {
    // With work of their own times share a wake-up as it goes on.
    let kernel = case.evidence.kernel.as_ref().filter(|_| load.work == 0.0)?;
    let (intended, period) = (case.evidence.units, load.period_ns as f64);
    let all = buckets(case);
    let shared = intended.saturating_sub(kernel.voluntary);
    let awake = awake(case, load, kernel.voluntary);
    let late = count(&all, period - awake);
    // A waiter that was pushed aside after it woke needs no sleep either; nor does one whose next
    // time comes before it sleeps, which ends a chain. There are no more chains than wake-ups.
    let chains = shared.min(kernel.voluntary) as f64;
    let spared = kernel.involuntary as f64 + case.constants.chain_share * chains + case.constants.edge_times;
    let fewer = || Reason::FewLate { late, shared, spared: Some(spared) };
    (late as f64 + spared < shared as f64).then(fewer).or_else(|| {
        let of = count(&all, period);
        // Of few most may lie at edges: two batches of five had 9 of 11. Drawn times have no fixed
        // distance.
        let many = !load.drawn && of as f64 > 10.0 * case.constants.edge_times;
        let alone = if many { unfollowed(&all, period, awake) } else { 0 };
        (alone as f64 > spared).then_some(Reason::Unfollowed { alone, of, spared: Some(spared) })
    })
}

/// What goes by at most from the reading of the clock until the next sleep, ns.
fn awake(case: &Case<'_>, load: &Load, wakes: u64) -> f64 {
    let period = load.period_ns as f64;
    let (least, most) = (case.constants.awake_share * period, (1.0 - case.constants.late_share) * period);
    let mean = used(case).map(|(ns, _)| ns / wakes.max(1) as f64);
    mean.filter(|_| !load.drawn).map_or(most, |mean| (case.constants.awake_means * mean).clamp(least, most))
}

/// All latencies, from the shortest.
fn buckets(case: &Case<'_>) -> Vec<Bucket> {
    let mut all = Vec::new();
    for histogram in &case.transcript.histograms {
        let ns = ns_per_counter_tick(histogram, case.transcript).unwrap_or(1.0);
        all.extend(histogram.buckets.iter().map(|&(low, count)| {
            let width = 1 << low.checked_ilog2().unwrap_or(0).saturating_sub(histogram.bits);
            (low as f64 * ns, low.saturating_add(width) as f64 * ns, count)
        }));
    }
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    all
}

/// How many are so long.
fn count(all: &[Bucket], least: f64) -> u64 {
    all.iter().filter(|(low, ..)| *low >= least).fold(0, |sum, (.., count)| sum.saturating_add(*count))
}

/// Latencies of a period or more that nobody follows: the next time, a period later, was due as
/// well and found so within `awake`. Each latency follows one; the longest are served first.
fn unfollowed(all: &[Bucket], period: f64, awake: f64) -> u64 {
    let mut free: Vec<Bucket> = all.to_vec();
    let mut alone = 0_u64;
    for &(low, high, mut needed) in all.iter().rev().take_while(|(low, ..)| *low >= period) {
        let until = all.partition_point(|(other, ..)| *other <= high - period + awake);
        let followers = free.iter_mut().take(until).rev().take_while(|(_, end, _)| *end >= low - period);
        for (.., count) in followers {
            let taken = needed.min(*count);
            (needed, *count) = (needed - taken, *count - taken);
        }
        alone = alone.saturating_add(needed);
    }
    alone
}
