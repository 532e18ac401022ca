//! Costs of rows round by round.

use crate::Row;
use std::collections::BTreeMap;
use switchcost_stats::{FEWEST, median};

/// What stands for a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The median of its batches or intervals.
    Medians,
    /// The median of its undisturbed batches.
    Undisturbed,
}

/// What is formed of rounds that hold several rows, which `rounds` counts. Each row leaves out its own disturbed starts; where too few rounds are
/// left that hold all of them, the disturbed starts count as well (`true`).
pub(crate) fn common_rounds<T>(form: impl Fn(bool) -> T, rounds: impl Fn(&T) -> usize) -> T {
    let quiet = form(false);
    if rounds(&quiet) >= FEWEST {
        return quiet;
    }
    let all = form(true);
    if rounds(&all) > rounds(&quiet) { all } else { quiet }
}

/// Cost in each round, on a scale; of several invocations in a round their median. If `all`, with the
/// disturbed starts that were left out, in rounds that have no other.
pub(crate) fn by_round(row: &Row<'_>, of: Of, scale: impl Fn(f64) -> f64, all: bool) -> BTreeMap<u64, f64> {
    let collect = |starts: &[(u64, f64)]| {
        let mut rounds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        starts.iter().for_each(|(round, value)| rounds.entry(*round).or_default().push(scale(*value)));
        rounds
    };
    let summary = &row.summary;
    let (counted, disturbed) = match of {
        Of::Medians => (&summary.invocation_medians, &summary.disturbed_medians),
        Of::Undisturbed => (row.undisturbed_medians(), &Vec::new()),
    };
    let mut rounds = if all { collect(disturbed) } else { BTreeMap::new() };
    rounds.extend(collect(counted));
    rounds.into_iter().filter_map(|(round, values)| Some((round, median(&values)?))).collect()
}
