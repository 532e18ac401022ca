//! What other programs call a row, and which rows they are given.

use switchcost_analysis::{Analysis, Row};
use switchcost_model::{Variant, Verdict};

/// Rows whose figures may be used: neither A/A twins nor rows whose claim is refuted.
pub(super) fn figures<'l, 'r>(analysis: &'l Analysis<'r>) -> impl Iterator<Item = (&'l Row<'r>, f64)> {
    let believed = |row: &&Row<'_>| matches!(row.verdict, Verdict::Verified | Verdict::Unobservable);
    analysis.originals().filter(believed).filter_map(|row| Some((row, row.median()?)))
}

/// `thread/pipe/probe=gcc-12/experiment=switch/contexts=2/timing=batch/payload=8/placement=one_cpu`: the whole variant without a blank, so that equal
/// rows of two runs meet. A label does not do for that: it leaves out what all rows of its run have in common.
pub(super) fn name(variant: &Variant) -> String {
    let mut name = format!(
        "{}/probe={}/experiment={}/contexts={}/timing={}",
        variant.mechanism, variant.probe, variant.experiment, variant.contexts, variant.timing
    );
    for (parameter, value) in &variant.parameters {
        name.push_str(&format!("/{parameter}={}", value.replace('/', "_")));
    }
    format!("{name}/placement={}", variant.placement).replace(' ', "_")
}
