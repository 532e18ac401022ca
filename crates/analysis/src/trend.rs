//! Changes of level in the history of a row.

use switchcost_stats::{changes, each_of, fewest_for_change, shift};

/// Joint level of the search on one table of trends. The test is exact, so this leaves a margin below the 5 % that are promised.
const SEARCH: f64 = 0.96;

/// Level of the interval of a change.
const CONFIDENCE: f64 = 0.95;

/// A row costs more or less from some run on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelChange {
    /// Index of the first run of the new level.
    pub at: usize,
    /// New level ÷ old level.
    pub ratio: f64,
    /// 95 % interval of the ratio, given the place; None where too few runs lie on the two sides.
    pub interval: Option<(f64, f64)>,
    /// Share of random orders of the runs that could be cut at least as well.
    pub p: f64,
}

/// The changes in figures of successive runs, all above 0; `series` is the number of series that are searched for the same table.
///
/// A run counts as one value: runs differ from one another by more than their own intervals say, since each has its own boot, build and layout, so
/// the intervals cannot tell a change from the usual. The chance that a table shows any change where there is none is at most 5 %.
#[must_use]
pub fn level_changes(figures: &[f64], series: usize) -> Vec<LevelChange> {
    let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    let found = changes(&logs, 1.0 - each_of(series, SEARCH));
    let mut cuts: Vec<usize> = vec![0];
    cuts.extend(found.iter().map(|change| change.at));
    cuts.push(logs.len());
    found
        .iter()
        .zip(cuts.windows(3))
        .filter_map(|(change, sides)| {
            let estimate = shift(&logs[sides[0]..sides[1]], &logs[sides[1]..sides[2]], CONFIDENCE)?;
            let interval = estimate.interval.map(|interval| (interval.low.exp(), interval.high.exp()));
            Some(LevelChange { at: change.at, ratio: estimate.centre.exp(), interval, p: change.p })
        })
        .collect()
}

/// Fewest runs in which a change could show, with so many series in the table.
#[must_use]
pub fn fewest_runs(series: usize) -> usize {
    fewest_for_change(1.0 - each_of(series, SEARCH))
}
