//! What was counted beside rows.

use crate::row::{Judged, Row};
use switchcost_model::{Counter, Counters, Explanation, PerUnit, Remark, Value, remark};
use switchcost_stats::median;

/// What was counted beside a row; None: nothing was to be.
#[must_use]
pub fn counters<'r>(row: &Judged<'r>) -> Option<&'r Counters> {
    row.starts.iter().find_map(|start| start.seen.as_ref()?.counters.as_ref())
}

/// How many of the events of a whole its layers have, if all of their rows were counted too; of
/// what start-up hides, none. `rows`: as of [`crate::explain`].
#[must_use]
pub fn in_layers(explanation: &Explanation, rows: &[Option<&Row<'_>>]) -> Option<Remark> {
    let counted = rows.iter().map(|row| Some(counters((*row)?)?.per_unit()));
    let counted = counted.collect::<Option<Vec<_>>>()?;
    let evidence = &rows.first().copied().flatten()?.summary.counts;
    let per = |name: &String| median(&evidence.get(name)?.iter().map(|(_, count)| *count).collect::<Vec<_>>());
    let share = |name: String| {
        let PerUnit::Of(all) = counted[0].get(&name)? else { return None };
        let terms = explanation.layers.iter().flat_map(|layer| &layer.terms);
        let parts = terms.zip(&counted[1..]).map(|(term, row)| match row.get(&name)? {
            PerUnit::Of(each) => Some(each * term.times * term.per.as_ref().map_or(Some(1.0), per)?),
            PerUnit::Below(_) => Some(0.0),
            PerUnit::Refused(_) => None,
        });
        Some(format!("{} of {} {name}", Value::Bare(parts.sum::<Option<f64>>()?), Value::Bare(*all)))
    };
    let shares: Vec<String> = Counter::ALL.iter().flat_map(|event| event.names()).filter_map(share).collect();
    (!shares.is_empty()).then(|| remark!(in_layers, shares = shares.join(", ")))
}
