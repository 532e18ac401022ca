//! What other programs call a row, and which rows they are given.

use switchcost_analysis::{Analysis, Row};
use switchcost_model::{Variant, Verdict};

/// A figure that other programs may use.
pub(super) struct Figure<'l, 'r> {
    pub row: &'l Row<'r>,
    /// Its median, or what its kind costs.
    pub value: f64,
    /// Number, from 1, and weight of the kind, where no single number stands for the row.
    pub mode: Option<(usize, f64)>,
}

impl Figure<'_, '_> {
    /// Ends of the interval of the median.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.row.interval().filter(|_| self.mode.is_none())
    }

    /// [`name`] of the row; each of its kinds is a series of its own.
    pub fn name(&self) -> String {
        let name = name(self.row.variant);
        self.mode.map_or(name.clone(), |(number, _)| format!("{name}/mode={number}"))
    }

    /// `, 55 % of its starts`, of a kind.
    pub fn share(&self) -> String {
        let of = if self.row.summary.modes_within { "batches" } else { "starts" };
        self.mode.map_or(String::new(), |(_, weight)| format!(", {:.0} % of its {of}", weight * 100.0))
    }
}

/// Figures of rows that may be used: neither A/A twins nor rows whose claim is refuted. A row with modes is not one number, and has a figure for each.
pub(super) fn figures<'l, 'r>(analysis: &'l Analysis<'r>) -> impl Iterator<Item = Figure<'l, 'r>> {
    let believed = |row: &&Row<'_>| matches!(row.verdict, Verdict::Verified | Verdict::Unobservable);
    analysis.originals().filter(believed).flat_map(|row| {
        let modes = row.summary.modes.iter().enumerate();
        let kinds = modes.map(move |(place, mode)| (mode.value, Some((place + 1, mode.weight))));
        let single = row.one().map(|median| (median, None));
        kinds.chain(single).map(move |(value, mode)| Figure { row, value, mode })
    })
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
