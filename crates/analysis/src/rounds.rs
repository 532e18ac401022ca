//! Costs of rows round by round.

use crate::row::{Judged, Of};
use std::collections::BTreeMap;
use switchcost_stats::{FEWEST, median};

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
pub(crate) fn by_round(row: &Judged<'_>, of: Of, scale: impl Fn(f64) -> f64, all: bool) -> BTreeMap<u64, f64> {
    let collect = |starts: &[(u64, f64)]| {
        let mut rounds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        starts.iter().for_each(|(round, value)| rounds.entry(*round).or_default().push(scale(*value)));
        rounds
    };
    let summary = &row.summary;
    let (counted, disturbed) = match of {
        Of::Medians => (summary.invocation_medians.as_slice(), summary.disturbed_medians.as_slice()),
        Of::Undisturbed => (row.undisturbed_medians(), [].as_slice()),
    };
    let mut rounds = if all { collect(disturbed) } else { BTreeMap::new() };
    rounds.extend(collect(counted));
    rounds.into_iter().filter_map(|(round, values)| Some((round, median(&values)?))).collect()
}

/// What two rows are compared by: their undisturbed starts, where both have enough of them.
pub(crate) fn basis(a: &Judged<'_>, b: &Judged<'_>) -> Of {
    if a.basis() == b.basis() { a.basis() } else { Of::Medians }
}

/// ln(b ÷ a) of each round that holds both; of a round with several invocations their median.
pub(crate) fn round_ratios(a: &Judged<'_>, b: &Judged<'_>, of: Of) -> Vec<f64> {
    let form = |all| -> Vec<f64> {
        let (a, b) = (by_round(a, of, f64::ln, all), by_round(b, of, f64::ln, all));
        a.iter().filter_map(|(round, a)| Some(b.get(round)? - a)).collect()
    };
    common_rounds(form, Vec::len)
}

/// From logarithm to factor, without the last digits that logarithms garble (1.1, not 1.1000000000000003).
pub(crate) fn ratio(log: f64) -> f64 {
    let scale = 1e12;
    (log.exp() * scale).round() / scale
}

/// From the size of a logarithm to a fraction: 0.0296 → 3 %.
pub(crate) fn fraction(log: f64) -> f64 {
    ratio(log) - 1.0
}
