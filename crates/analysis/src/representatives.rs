//! The order of the ladder, the rows of it that stand for their families, and how they lie to one
//! another.

use crate::compare::{Outcome, Rules, THRESHOLD, within};
use crate::curves::Curve;
use crate::label::label;
use crate::noise::Noise;
use crate::row::{Judged, Row};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Experiment, Family, Placement, Timing, Verdict};

/// How a row lies to the next more expensive one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// It costs less.
    Less,
    /// They cost the same within the noise of the run.
    Same,
    /// The run does not decide.
    Undecided,
}

/// Indices of rows in the order of [`crate::Analysis::ladder`].
pub(crate) fn order(curves: &[Curve], rows: &[Row<'_>], catalogue: &Catalogue) -> Vec<usize> {
    let cost = |row: &Row<'_>| row.usual().unwrap_or(f64::INFINITY);
    // By what each row is sorted: its cost, or that of the cheapest on its curve; then curve and
    // place on it.
    let mut places: Vec<(f64, (usize, u64))> = rows.iter().map(|row| (cost(row), (usize::MAX, 0))).collect();
    for (number, curve) in curves.iter().enumerate().rev() {
        let cheapest = curve.points.iter().map(|point| cost(&rows[point.row])).fold(f64::INFINITY, f64::min);
        for point in curve.points.iter().chain(&curve.gaps) {
            places[point.row] = (cheapest, (number, point.x));
        }
    }
    let rank = |index: &usize| catalogue.family_rank(rows[*index].variant.mechanism.family());
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| {
        let ((cost_a, place_a), (cost_b, place_b)) = (places[*a], places[*b]);
        rank(a).cmp(&rank(b)).then(cost_a.total_cmp(&cost_b)).then(place_a.cmp(&place_b))
    });
    order
}

/// Of each family that a program can choose the row of its example, else the cheapest, as its page
/// describes it, on one CPU, verified and with an interval or modes; cheapest first. Indices of
/// `rows`.
pub(crate) fn representatives(rows: &[Row<'_>], catalogue: &Catalogue) -> Vec<usize> {
    let sound = |row: &&Row<'_>| {
        row.choice
            && row.verdict == Verdict::Verified
            && !row.variant.is_twin()
            && label(row.variant, catalogue, false) == row.variant.mechanism.as_str()
            && row.variant.experiment == Experiment::usual()
            && row.variant.timing == Timing::Batch
            && row.variant.placement == Placement::usual()
            && (row.interval().is_some() || !row.summary.modes.is_empty())
    };
    let cost = |row: &Row<'_>| row.usual().unwrap_or(f64::INFINITY);
    let of_family = |family: &Family| {
        let own = || rows.iter().filter(sound).filter(|row| row.variant.mechanism.family() == family.id);
        let example = own().find(|row| family.example.as_ref() == Some(&row.variant.mechanism));
        example.or_else(|| own().min_by(|a, b| cost(a).total_cmp(&cost(b))))
    };
    let mut found: Vec<&Row<'_>> = catalogue.families.iter().filter_map(of_family).collect();
    found.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    found.into_iter().map(|row| row.index).collect()
}

/// How a row lies to another, by the rule of `compare`.
pub(crate) fn beside(a: &Judged<'_>, b: &Judged<'_>, noise: &Noise) -> Beside {
    match within(a, b, noise, &Rules { threshold: THRESHOLD, comparisons: 1 }).map(|found| found.outcome) {
        Ok(Outcome::Slower) => Beside::Less,
        Ok(Outcome::Same(_)) => Beside::Same,
        _ => Beside::Undecided,
    }
}
