//! Changes of level in the history of a row.

use switchcost_stats::{Search, each_of, fewest_for_change, shift};

/// Joint level of the search on one table of trends. The tests are exact, so this leaves a margin
/// below the 5 % that are promised.
const SEARCH: f64 = 0.96;

/// From this factor on the speed of the core in a run is worth showing beside its figure.
pub const WORTH_SHOWING: f64 = 1.02;

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
    /// The greater of two shares: of random orders of the runs that could be cut at least as well,
    /// and of drifting series with a step as strong.
    pub p: f64,
}

/// What the figures of successive runs say.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// Changes of level in order of time.
    pub changes: Vec<LevelChange>,
    /// Places where the level seems to change, but as drift would.
    pub undecided: usize,
    /// Lag-1 autocorrelation of the runs about these levels, on the log scale; None where nothing
    /// varies.
    pub autocorrelation: Option<f64>,
}

/// Searches the series of one table.
#[derive(Debug, Clone)]
pub struct TrendSearch(Search);

impl TrendSearch {
    /// `series` are searched for the same table. The chance that it shows any change where there is
    /// none is at most 5 %.
    #[must_use]
    pub fn new(series: usize) -> Self {
        Self(Search::new(1.0 - each_of(series, SEARCH)))
    }

    /// The changes in figures of successive runs, all above 0.
    ///
    /// A run counts as one value: runs differ from one another by more than their own intervals
    /// say, since each has its own boot, build and layout, so the intervals cannot tell a change
    /// from the usual.
    pub fn trend(&mut self, figures: &[f64]) -> Trend {
        let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
        let levels = self.0.levels(&logs);
        let mut cuts: Vec<usize> = vec![0];
        cuts.extend(levels.changes.iter().map(|change| change.at));
        cuts.push(logs.len());
        let sized = levels.changes.iter().zip(cuts.windows(3)).filter_map(|(change, sides)| {
            let estimate = shift(&logs[sides[0]..sides[1]], &logs[sides[1]..sides[2]], CONFIDENCE)?;
            let interval = estimate.interval.map(|interval| (interval.low.exp(), interval.high.exp()));
            Some(LevelChange { at: change.at, ratio: estimate.centre.exp(), interval, p: change.p })
        });
        Trend { changes: sized.collect(), undecided: levels.undecided, autocorrelation: levels.autocorrelation }
    }
}

/// Fewest runs in which a change could show, with so many series in the table.
#[must_use]
pub fn fewest_runs(series: usize) -> usize {
    fewest_for_change(1.0 - each_of(series, SEARCH))
}
