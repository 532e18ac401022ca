//! Which rows are compared with which.

use super::why::{Side, Why};
use crate::row::{Row, usable};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Experiment, Run, Variant};

/// Smallest difference that matters unless the user says otherwise.
pub const THRESHOLD: f64 = 0.03;

/// A row and the index of its run.
pub type Place<'l, 'r> = (usize, &'l Row<'r>);

/// What two runs have in common.
pub struct Common<'l, 'r> {
    /// Rows of equal variants.
    pub pairs: Vec<(&'l Row<'r>, &'l Row<'r>)>,
    /// Labels that only the first has.
    pub only_a: Vec<String>,
    /// Labels that only the second has.
    pub only_b: Vec<String>,
}

/// Rows of equal variants: a parameter that one run does not know has its default there, and
/// versions of probes may differ (gcc-12 and gcc-13); of two `builds` of a probe the probes differ.
#[must_use]
pub fn common<'l, 'r>(a: &[&'l Row<'r>], b: &[&'l Row<'r>], builds: bool) -> Common<'l, 'r> {
    let loose_key = |row: &Row<'_>| {
        let probe = if builds { "" } else { probe_without_version(&row.full.probe) };
        Variant { probe: probe.to_owned(), ..row.full.clone() }.key()
    };
    let exact: BTreeMap<String, &'l Row<'r>> = b.iter().map(|&line| (line.full.key(), line)).collect();
    let loose: BTreeMap<String, &'l Row<'r>> = b.iter().map(|&line| (loose_key(line), line)).collect();
    let partner = |a: &Row<'_>| exact.get(&a.full.key()).or_else(|| loose.get(&loose_key(a))).copied();
    let mut found = Common { pairs: Vec::new(), only_a: Vec::new(), only_b: Vec::new() };
    for &a in a {
        match partner(a) {
            Some(b) => found.pairs.push((a, b)),
            None => found.only_a.push(a.label.clone()),
        }
    }
    let met: BTreeSet<usize> = found.pairs.iter().map(|(_, b)| b.index).collect();
    found.only_b = b.iter().filter(|line| !met.contains(&line.index)).map(|line| line.label.clone()).collect();
    found
}

/// A probe's id without the version of its compiler: `native-gcc` of `native-gcc-12`.
#[must_use]
pub fn probe_without_version(id: &str) -> &str {
    let version = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    id.rsplit_once('-').filter(|(_, tail)| version(tail)).map_or(id, |(name, _)| name)
}

/// What one unit of a variant is: switch, context, round trip …
pub(crate) fn unit<'c>(variant: &'c Variant, catalogue: &'c Catalogue) -> &'c str {
    let mechanism = catalogue.find(&variant.mechanism);
    mechanism.map_or(&variant.experiment.unit, |mechanism| mechanism.unit_of(variant.experiment))
}

/// Whether two variants measure the same, which is known before either is measured.
///
/// # Errors
/// Why not.
pub fn alike(a: &Variant, b: &Variant, catalogue: &Catalogue) -> Result<(), Why> {
    same_kind((a.experiment, unit(a, catalogue)), (b.experiment, unit(b, catalogue)))
}

fn same_kind(a: (Experiment, &str), b: (Experiment, &str)) -> Result<(), Why> {
    if a.0 != b.0 {
        return Err(Why::Experiments(a.0, b.0));
    }
    if a.1 == b.1 { Ok(()) } else { Err(Why::Units(a.1.to_owned(), b.1.to_owned())) }
}

/// Whether a ratio of these rows means anything.
///
/// # Errors
/// Why not.
pub fn comparable(a: &Row<'_>, b: &Row<'_>) -> Result<(), Why> {
    same_kind((a.variant.experiment, &a.unit), (b.variant.experiment, &b.unit))?;
    for (side, row) in [(Side::A, a), (Side::B, b)] {
        usable(row).map_err(|reason| Why::Unusable { side, reason })?;
    }
    Ok(())
}

/// Figures of the two runs may differ for equal machines: their methods do.
#[must_use]
pub const fn methods_differ(a: &Run, b: &Run) -> bool {
    a.method_version != b.method_version
}
