//! What follows from the costs of several rows, round by round.

use crate::Row;
use crate::compare::believed;
use crate::rounds::{Of, by_round, common_rounds};
use crate::summary::CONFIDENCE;
use std::collections::BTreeMap;
use switchcost_stats::{median, median_interval, sorted};

/// Something computed from several rows in every round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// Median over the rounds; None if a row has modes, whose median may lie between them.
    pub value: Option<f64>,
    /// 95 % interval of it, lower and upper end, or the lowest and the highest of all rounds if a row has modes; None with fewer than 6 rounds.
    pub interval: Option<(f64, f64)>,
    /// Rounds that hold all rows.
    pub rounds: usize,
}

/// Computes `formula` from the costs of `rows` (in their order) in every round that holds them all. A cost may be nothing or less: of readings
/// that were compensated by more than they cost.
///
/// # Errors
/// A clause that says why nothing follows: a row that cannot be used, no common round, or a formula without a value. `formula`'s own error is passed on.
pub fn joint<E: From<String>>(
    rows: &[&Row<'_>],
    of: Of,
    formula: impl Fn(&[f64]) -> Result<f64, E>,
) -> Result<Joint, E> {
    for row in rows {
        believed(row).map_err(|why| format!("{}: {why}", row.label))?;
    }
    let common = |all: bool| -> Vec<Vec<f64>> {
        let costs: Vec<BTreeMap<u64, f64>> = rows.iter().map(|row| by_round(row, of, |ns| ns, all)).collect();
        let Some(first) = costs.first() else { return Vec::new() };
        let of_round = |round: &u64| costs.iter().map(|row| row.get(round).copied()).collect::<Option<Vec<f64>>>();
        first.keys().filter_map(of_round).collect()
    };
    let values = common_rounds(common, Vec::len).iter().map(|costs| formula(costs)).collect::<Result<Vec<f64>, E>>()?;
    if values.iter().any(|value| !value.is_finite()) {
        return Err("it has no value in one of the rounds".to_owned().into());
    }
    let value = median(&values).ok_or_else(|| "no round holds all of the rows".to_owned())?;
    let ordered = sorted(&values);
    let interval = median_interval(&ordered, CONFIDENCE).map(|interval| (interval.low, interval.high));
    let modes = matches!(of, Of::Medians) && rows.iter().any(|row| !row.summary.modes.is_empty());
    let all = ordered.first().copied().zip(ordered.last().copied());
    let (value, interval) = if modes { (None, interval.and(all)) } else { (Some(value), interval) };
    Ok(Joint { value, interval, rounds: values.len() })
}
