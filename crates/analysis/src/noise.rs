//! What equal things of one run differ by.

use crate::percentile::CONFIDENCE;
use crate::rounds::{basis, fraction, own_reach, reach_of_both, round_ratios};
use crate::row::{Judged, Of, usable};
use std::collections::BTreeMap;
use switchcost_model::{TWIN, Variant};
use switchcost_stats::{each_of, paired};

/// Level at which the A/A pair is tested: a sound run is refused by chance once in a hundred runs,
/// not once in twenty.
const UNSTABLE_CONFIDENCE: f64 = 0.99;

/// Noise floor of a run that holds no A/A pair, and the difference within an A/A pair that is of no
/// consequence.
pub const DEFAULT_FLOOR: f64 = 0.01;

/// What the A/A pairs of a run say of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Noise {
    /// What equal things differ by, for each family that has a pair of its own.
    pub families: BTreeMap<String, Equals>,
    /// Why the run is unstable: equal things differ.
    pub unstable: Option<String>,
}

/// What an A/A pair differs by, as fractions; of several pairs the largest.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Equals {
    /// At most, with 95 % certainty.
    pub reach: f64,
    /// If chance does not explain it; otherwise 0.
    pub beyond: f64,
}

impl Noise {
    /// Largest difference that the run may show between equal things, as a fraction; None: no A/A
    /// pair, or too few rounds of it.
    #[must_use]
    pub fn floor(&self) -> Option<f64> {
        self.families.values().map(|equals| equals.reach).max_by(f64::total_cmp)
    }

    /// What the A/A pair of a row's family differs by beyond chance; where no pair was measured,
    /// the documented default.
    pub(crate) fn beyond(&self, row: &Judged<'_>) -> f64 {
        self.families.get(row.variant.mechanism.family()).map_or(DEFAULT_FLOOR, |equals| equals.beyond)
    }
}

/// The noise floor of two rows, as a fraction: what they would differ by with their own scatter if
/// they cost the same, or what A/A pairs of their families differ by beyond chance, if that is
/// more.
pub(crate) fn floor(a: (&Judged<'_>, &Noise), b: (&Judged<'_>, &Noise), of: Of) -> f64 {
    if a.0.quantity.exact {
        return 0.0;
    }
    reach_of_both(own_reach(a.0, of), own_reach(b.0, of)).max(a.1.beyond(a.0)).max(b.1.beyond(b.0))
}

/// Rows by their variants, twins beside their originals: imported runs may hold many thousands, and
/// few of them are pairs. Other labels tell rows of different sizes apart.
fn by_variant<'a, 'r>(rows: &[&'a Judged<'r>]) -> Vec<Vec<&'a Judged<'r>>> {
    let mut groups: BTreeMap<Variant, Vec<&Judged<'r>>> = BTreeMap::new();
    for &row in rows {
        groups.entry(original(row.variant)).or_default().push(row);
    }
    groups.into_values().collect()
}

fn original(variant: &Variant) -> Variant {
    let label = if variant.is_twin() { String::new() } else { variant.label.clone() };
    Variant { label, ..variant.clone() }
}

/// Noise of a run, from those of its rows that differ only in their label.
///
/// The floor is the far end of the 95 % interval of the A/A pair's ratio: with that certainty two
/// equal things in this run differ, as compared here (median over the rounds), by no more. It is
/// not a percentile of single rounds: a comparison rests on the median of all rounds, which
/// scatters by much less than one round does. It holds both what scatters and what is systematic
/// (the order, the layout of memory). A pair speaks for its family: a noisy one hides no small
/// difference among quiet rows of another kind.
///
/// The run is unstable when a pair's interval at 99 % (shared by all pairs) excludes 1 and the
/// difference exceeds 1 %. Where there are too few rounds for such an interval, none is called
/// unstable: one in thirty sound runs of six rounds would be.
#[must_use]
pub fn noise(rows: &[&Judged<'_>]) -> Noise {
    let mut pairs = Vec::new();
    for mut equal in by_variant(rows) {
        equal.retain(|row| {
            !row.quantity.exact
                && usable(row).is_ok()
                && row.figure(row.basis()).is_some_and(|(_, _, modes)| modes.is_empty())
        });
        for (i, &first) in equal.iter().enumerate() {
            pairs.extend(equal[i + 1..].iter().map(|&second| (first, second)));
        }
    }
    let mut noise = Noise::default();
    let strict = each_of(pairs.len(), UNSTABLE_CONFIDENCE);
    for (first, second) in pairs {
        add_pair(&mut noise, first, second, strict);
    }
    noise
}

fn add_pair(noise: &mut Noise, first: &Judged<'_>, second: &Judged<'_>, strict: f64) {
    let ratios = round_ratios(first, second, basis(first, second));
    let Some(estimate) = paired(&ratios, CONFIDENCE) else { return };
    let Some(reach) = estimate.reach() else { return };
    let off = fraction(estimate.centre.abs());
    let family = noise.families.entry(first.variant.mechanism.family().to_owned()).or_default();
    family.reach = family.reach.max(fraction(reach));
    if estimate.excludes_zero() {
        family.beyond = family.beyond.max(off);
    }
    if off > DEFAULT_FLOOR && paired(&ratios, strict).is_some_and(|strict| strict.excludes_zero()) {
        noise.unstable = Some(format!(
            "its {TWIN} pair ({} twice) differs by {:.1} %, more than chance allows",
            first.variant.mechanism,
            off * 100.0
        ));
    }
}
