//! What pictures need beyond a row: each invocation, and how its batches or intervals are spread.

use crate::intervals::intervals_of;
use crate::row::Row;
use crate::series::series;
use crate::summary::counted;
use std::collections::BTreeMap;
use switchcost_model::Invocation;
use switchcost_stats::{median, quantile, sorted};

/// Shares at which the pooled batches of a row are given.
pub const SHARES: [f64; 13] = [0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0];

/// Bins in which a histogram is given for each factor of ten.
const BINS_A_DECADE: f64 = 40.0;

/// One start of a probe, per unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Start<'a> {
    /// As it was stored.
    pub invocation: &'a Invocation,
    /// It counts for the row's figures.
    pub counted: bool,
    /// Minimum, 10th percentile, median, 90th percentile and maximum of its batches after warm-up
    /// (of its intervals, less the cost of reading the counter); None: it gave none.
    pub spread: Option<[f64; 5]>,
}

/// Fewer starts in a third are not a sign of drift.
const FEWEST_IN_THIRD: usize = 2;

/// A row in detail.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Detail<'a> {
    /// In order of execution.
    pub starts: Vec<Start<'a>>,
    /// All counted batches pooled, at [`SHARES`]; empty with timing each.
    pub batches: Vec<f64>,
    /// Only with timing each: geometric middle of a bin in ns (raw), and intervals in it,
    /// ascending.
    pub histogram: Vec<(f64, u64)>,
    /// By how much the median of the last third of the counted starts exceeds that of the first, as
    /// a fraction; None: fewer than six of them, or the first third is not above 0. Plain
    /// arithmetic without an interval: no verdict.
    pub drift: Option<f64>,
}

/// The starts of a row in detail.
#[must_use]
pub fn detail<'a>(row: &Row<'a>) -> Detail<'a> {
    of_starts(row.variant.each_unit(), &row.starts)
}

fn of_starts<'a>(each_unit: bool, all: &[&'a Invocation]) -> Detail<'a> {
    let counts: Vec<u64> = counted(all).0.iter().map(|invocation| invocation.sequence).collect();
    let mut detail = Detail::default();
    let mut pooled = Vec::new();
    let mut bins: BTreeMap<i64, u64> = BTreeMap::new();
    for &invocation in all {
        let counted = counts.contains(&invocation.sequence);
        let spread = if each_unit {
            intervals_of(invocation).and_then(|intervals| {
                for &(value, count) in intervals.buckets.iter().filter(|_| counted).filter(|bucket| bucket.0 > 0.0) {
                    let bin = bins.entry((value.log10() * BINS_A_DECADE).round() as i64).or_default();
                    *bin = bin.saturating_add(count);
                }
                let raw = spread(|p| match p {
                    0.0 => Some(intervals.min),
                    1.0 => Some(intervals.max),
                    _ => intervals.quantile(p),
                });
                // As the row's median: without what the reading costs.
                raw.map(|raw| raw.map(|value| value - intervals.pair))
            })
        } else {
            let series = series(invocation);
            let values = sorted(series.settled());
            if counted {
                pooled.extend_from_slice(&values);
            }
            spread(|p| quantile(&values, p))
        };
        detail.starts.push(Start { invocation, counted, spread });
    }
    let pooled = sorted(&pooled);
    detail.batches = SHARES.iter().filter_map(|&share| quantile(&pooled, share)).collect();
    detail.histogram = bins.into_iter().map(|(bin, count)| (10_f64.powf(bin as f64 / BINS_A_DECADE), count)).collect();
    detail.drift = drift(&detail.starts);
    detail
}

fn drift(starts: &[Start<'_>]) -> Option<f64> {
    let medians: Vec<f64> = starts.iter().filter(|start| start.counted).filter_map(|s| Some(s.spread?[2])).collect();
    let third = medians.len() / 3;
    if third < FEWEST_IN_THIRD {
        return None;
    }
    let (first, last) = (median(&medians[..third])?, median(&medians[medians.len() - third..])?);
    (first > 0.0).then(|| last / first - 1.0)
}

fn spread(at: impl Fn(f64) -> Option<f64>) -> Option<[f64; 5]> {
    Some([at(0.0)?, at(0.1)?, at(0.5)?, at(0.9)?, at(1.0)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_model as model;

    fn invocation(sequence: u64, ticks: &[i64], disturbed: bool) -> Invocation {
        let clock = model::Clock { name: "c".into(), ticks_per_second: 1_000_000_000, read_cost_ticks: 1 };
        let hello = model::Hello {
            protocol: 1,
            probe: "p".into(),
            version: "1".into(),
            runtime: "r".into(),
            compiler: None,
            flags: None,
            pid: 1,
            clock,
            counter: None,
            chain_cycles: None,
        };
        let samples = model::Samples {
            phase: model::Phase::Measure,
            units: 10,
            ticks: ticks.to_vec(),
            quantity: None,
            rulers: BTreeMap::new(),
        };
        Invocation {
            variant: 0,
            round: sequence,
            sequence,
            started_unix_ns: 0,
            wall_ns: 0,
            cpus: vec![],
            environment_padding: 0,
            peak_rss_bytes: 0,
            process: model::ProcessEnd::Exited(0),
            transcript: model::Transcript { hello: Some(hello), samples: vec![samples], ..Default::default() },
            seen: None,
            judgement: model::Judgement::VERIFIED,
            disturbances: vec![model::Disturbance::Steal { ns: 5, of_ns: 100 }; usize::from(disturbed)],
            log: String::new(),
        }
    }

    #[test]
    fn disturbed_starts_are_told_and_do_not_count() {
        let mut all: Vec<Invocation> = (0..6).map(|i| invocation(i, &[10, 20, 30, 40, 50], false)).collect();
        all.push(invocation(6, &[900; 5], true));
        let detail = of_starts(false, &all.iter().collect::<Vec<_>>());
        assert_eq!(detail.starts[0].spread.unwrap().map(|v| (v * 10.0).round()), [10.0, 14.0, 30.0, 46.0, 50.0]);
        assert!(detail.starts[0].counted && !detail.starts[6].counted);
        assert_eq!((detail.batches.len(), detail.batches[12]), (SHARES.len(), 5.0));
    }

    #[test]
    fn drift_is_the_last_third_against_the_first() {
        let of = |costs: &[i64]| {
            let all: Vec<Invocation> = (0..).zip(costs).map(|(i, &cost)| invocation(i, &[cost; 5], false)).collect();
            of_starts(false, &all.iter().collect::<Vec<_>>()).drift.map(|drift| (drift * 1e6).round() / 1e6)
        };
        assert_eq!(of(&[100, 300, 900, 900, 400, 500]), Some(1.25), "the median of two lies between them");
        assert_eq!(of(&[100, 200, 300, 0, 0, 0, 300, 100, 200]), Some(0.0));
        assert_eq!(of(&[100; 5]), None, "five starts have no thirds");
        assert_eq!(of(&[0, 0, 1, 1, 1, 1]), None);
        let mut all: Vec<Invocation> = (0..7).map(|i| invocation(i, &[100; 5], false)).collect();
        all.push(invocation(7, &[900; 5], true));
        assert_eq!(of_starts(false, &all.iter().collect::<Vec<_>>()).drift, Some(0.0), "disturbed starts do not count");
    }

    #[test]
    fn a_histogram_is_thinned_and_keeps_its_counts() {
        let mut each = invocation(0, &[], false);
        each.transcript.histograms.push(model::Histogram {
            phase: model::Phase::Measure,
            units: 30,
            bits: 7,
            buckets: vec![(0, 0), (100, 10), (101, 15), (10_000, 5)],
            sum: 1,
            min: 100,
            max: 10_000,
            pair_sum: 0,
            pair_count: 1,
            span_counter: 1,
            span_clock: 1,
        });
        let detail = of_starts(true, &[&each]);
        assert_eq!(detail.histogram.iter().map(|(_, count)| count).sum::<u64>(), 30);
        assert_eq!(detail.histogram.len(), 2, "{:?}", detail.histogram);
        assert_eq!(detail.starts[0].spread.unwrap()[4], 10_000.0);
    }
}
