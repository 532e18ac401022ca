//! Costs of rows round by round.

use crate::percentile::CONFIDENCE;
use crate::row::{Judged, Of};
use std::collections::BTreeMap;
use switchcost_stats::{FEWEST, OF_A_MEDIAN, SIGMAS, half_width, mad, median};

/// What is formed of rounds that hold several rows, which `rounds` counts. Each row leaves out its
/// own disturbed starts; where too few rounds are left that hold all of them, the disturbed starts
/// count as well (`true`).
pub(crate) fn common_rounds<T>(form: impl Fn(bool) -> T, rounds: impl Fn(&T) -> usize) -> T {
    let quiet = form(false);
    if rounds(&quiet) >= FEWEST {
        return quiet;
    }
    let all = form(true);
    if rounds(&all) > rounds(&quiet) { all } else { quiet }
}

/// Cost in each round, on a scale; of several invocations in a round their median. If `all`, with
/// the disturbed starts that were left out, in rounds that have no other.
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

/// From logarithm to factor, without the last digits that logarithms garble (1.1, not
/// 1.1000000000000003).
pub(crate) fn ratio(log: f64) -> f64 {
    let scale = 1e12;
    (log.exp() * scale).round() / scale
}

/// From the size of a logarithm to a fraction: 0.0296 → 3 %.
pub(crate) fn fraction(log: f64) -> f64 {
    ratio(log) - 1.0
}

/// What two rows that scatter like this one differ by at most in 95 % of runs, as a logarithm: each
/// start beside that of the next round as if it were a twin's, by the estimate of
/// [`crate::within`]. Neighbours, and less their drift, which does not count there either. It needs
/// no twin, and a noisy row does not hide behind a quiet one of its family.
///
/// The estimate is the median of n such steps, whose standard error is 1.2533 σ ÷ √n; σ is 1.4826
/// times their MAD.
pub(crate) fn own_reach(row: &Judged<'_>, of: Of) -> f64 {
    reach(&by_round(row, of, f64::ln, false).into_values().collect::<Vec<_>>())
}

/// The same of these logarithms.
pub(crate) fn reach(logs: &[f64]) -> f64 {
    if logs.len() < FEWEST || logs.iter().any(|log| !log.is_finite()) {
        return 0.0;
    }
    let steps: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let error = OF_A_MEDIAN * SIGMAS / (steps.len() as f64).sqrt();
    half_width(error * mad(&steps).unwrap_or_default(), CONFIDENCE)
}

/// What two rows of such reaches differ by, as a fraction. Variances add up: two rows with the
/// scatter of both differ by the root mean square of what twins of each do.
pub(crate) fn reach_of_both(a: f64, b: f64) -> f64 {
    fraction(f64::midpoint(a.powi(2), b.powi(2)).sqrt())
}

/// Part of their variance that is left in the ratio of rows which scatter each by itself.
const APART: f64 = 0.5;

/// Rows scatter each by itself: where a machine moves both, that cancels in the ratio.
pub(crate) fn apart(ratios: &[f64], a: &Judged<'_>, b: &Judged<'_>, of: Of) -> bool {
    let variance = |logs: &[f64]| mad(logs).unwrap_or_default().powi(2);
    variance(ratios) > APART * (variance(&logarithms(a, of)) + variance(&logarithms(b, of)))
}

/// Those that count, each with its round.
pub(crate) fn starts_of<'r>(row: &'r Judged<'_>, of: Of) -> &'r [(u64, f64)] {
    if of == Of::Undisturbed { row.undisturbed_medians() } else { &row.summary.invocation_medians }
}

/// Logarithms of these.
pub(crate) fn logarithms(row: &Judged<'_>, of: Of) -> Vec<f64> {
    starts_of(row, of).iter().map(|(_, value)| value.ln()).collect()
}
