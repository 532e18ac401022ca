//! Whether the rulers of a row may choose its batches: they come from its probe, as the costs do.

use crate::rulers::{CLOCK, Distrust, Speeds, clock_beside};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::{Invocation, Phase, Variant};
use switchcost_stats::{FEWEST, median};

/// By so much, as a logarithm, the clock's ruler may differ between a row and the other rows of the
/// same rounds. In all kept runs it is at most 0.06, but for a million contexts, after which its
/// code is no longer in the cache. A ruler that no other confirms chooses no batches: it comes from
/// the probe, as the costs do.
const CONFIRMED: f64 = 0.1;

/// Steps of the probe's clock that its ruler takes at least, for the scatter of the readings to say
/// anything: with ticks of 100 ns honest ones are often all equal.
const FINE: i64 = 20;

/// So many readings of a start that a clock in fine steps never gives them all alike: beside 192
/// rows of the kept runs no start has them alike.
const READINGS: usize = 10;

/// So many different readings that costs which are their multiple are not alike by accident.
const DIFFERENT: usize = 3;

/// Of each row whether, and why, its rulers are not believed.
pub(crate) fn distrust(variants: &[Variant], starts: &[Vec<&Invocation>], speeds: &Speeds) -> Vec<Option<Distrust>> {
    let others = unconfirmed(variants, starts, speeds);
    let own = starts.iter().map(|starts| not_timed(starts));
    own.zip(others).map(|(own, other)| own.or(other.map(Distrust::Unconfirmed))).collect()
}

/// Readings that no clock gives.
fn not_timed(starts: &[&Invocation]) -> Option<Distrust> {
    let starts: Vec<Vec<(i64, i64)>> = starts.iter().map(|start| beside_costs(start)).collect();
    let starts: Vec<Vec<(i64, i64)>> = starts.into_iter().filter(|pairs| pairs.len() >= READINGS).collect();
    let all: BTreeSet<i64> = starts.iter().flatten().map(|(_, ruler)| *ruler).collect();
    let step = all.iter().zip(all.iter().skip(1)).map(|(low, high)| high.saturating_sub(*low)).min().unwrap_or(1);
    if starts.len() < FEWEST || all.first().is_none_or(|least| *least < FINE.saturating_mul(step)) {
        return None;
    }
    let multiple = |pairs: &Vec<(i64, i64)>| {
        let middle = |of: fn(&(i64, i64)) -> i64| median(&pairs.iter().map(|pair| of(pair) as f64).collect::<Vec<_>>());
        let different: BTreeSet<i64> = pairs.iter().map(|(_, ruler)| *ruler).collect();
        let times = middle(|(cost, _)| *cost).zip(middle(|(_, ruler)| *ruler)).map(|(cost, ruler)| cost / ruler);
        let near =
            |times: f64| pairs.iter().all(|(cost, ruler)| (*cost as f64 / times - *ruler as f64).abs() <= step as f64);
        different.len() >= DIFFERENT && times.is_some_and(|times| times > 0.0 && near(times))
    };
    match all.len() {
        1 => Some(Distrust::Constant),
        _ => starts.iter().all(multiple).then_some(Distrust::Proportional),
    }
}

/// Ticks of each measured batch of a start, with those of the clock's ruler beside it.
fn beside_costs(start: &Invocation) -> Vec<(i64, i64)> {
    let measured = start.transcript.samples.iter().filter(|samples| samples.phase == Phase::Measure);
    let timed = measured.filter(|samples| samples.quantity.is_none());
    timed
        .flat_map(|samples| samples.ticks.iter().copied().zip(samples.rulers.get(CLOCK).into_iter().flatten().copied()))
        .collect()
}

/// Of each row the median over rounds of how its clock's ruler differs from another row's, each in
/// times of what the same probe's took at the clock that the run kept; that of the row which
/// differs least. Rows of other probes are the witnesses; in a run of one probe, its other rows.
/// None: one confirms it, or none can.
fn unconfirmed(variants: &[Variant], starts: &[Vec<&Invocation>], speeds: &Speeds) -> Vec<Option<f64>> {
    let of_row = |(variant, starts): (&Variant, &Vec<&Invocation>)| -> (String, BTreeMap<u64, f64>) {
        let kept = speeds.get(&variant.probe).and_then(|speeds| speeds.get(CLOCK)).map(|speed| speed.kept);
        let log = |start: &&Invocation| Some((start.round, (clock_beside(start)? / kept?).ln()));
        (variant.probe.clone(), starts.iter().filter_map(log).collect())
    };
    let rows: Vec<(String, BTreeMap<u64, f64>)> = variants.iter().zip(starts).map(of_row).collect();
    let differs = |own: &BTreeMap<u64, f64>, other: &BTreeMap<u64, f64>| {
        let rounds: Vec<f64> = own.iter().filter_map(|(round, log)| Some(log - other.get(round)?)).collect();
        median(&rounds).filter(|_| rounds.len() >= FEWEST)
    };
    // Of a thousand rows hardly any needs a second witness.
    let least = |index: usize, elsewhere: bool| -> Option<f64> {
        let own = &rows[index];
        let others = rows.iter().enumerate().filter(|(other, row)| *other != index && (!elsewhere || row.0 != own.0));
        let mut least: Option<f64> = None;
        for log in others.filter_map(|(_, row)| differs(&own.1, &row.1)) {
            least = Some(least.map_or(log, |least| if log.abs() < least.abs() { log } else { least }));
            if log.abs() <= CONFIRMED {
                break;
            }
        }
        least
    };
    let beyond = |index: usize| least(index, true).or_else(|| least(index, false)).filter(|log| log.abs() > CONFIRMED);
    (0..rows.len()).map(beyond).collect()
}
