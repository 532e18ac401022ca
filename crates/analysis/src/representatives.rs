//! The rows that stand for their families, and how they lie to one another.

use crate::compare::{Outcome, Rules, THRESHOLD, within};
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

/// Of each family that a program can choose the row of its example, else the cheapest, as its page describes it, on one CPU, verified and with an interval or
/// modes; cheapest first. Indices of `rows`.
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
    let cost = |row: &Row<'_>| row.median().unwrap_or(f64::INFINITY);
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
