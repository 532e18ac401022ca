//! What follows from the costs of several rows, round by round.

use crate::Row;
use crate::curves::common_rounds;
use std::collections::BTreeMap;
use switchcost_model::Verdict;
use switchcost_stats::{FEWEST, median, median_interval, sorted};

/// Level of the interval.
const CONFIDENCE: f64 = 0.95;

/// What stands for a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The median of its batches or intervals.
    Medians,
    /// Their mean.
    Means,
}

/// Something computed from several rows in every round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// Median over the rounds.
    pub value: f64,
    /// 95 % interval of it, lower and upper end; None with fewer than 6 rounds.
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
        match row.verdict {
            Verdict::Verified | Verdict::Unobservable => {}
            Verdict::Contradicted => {
                return Err(format!("{}: its evidence contradicts its claim ({})", row.label, row.reason).into());
            }
            other => return Err(format!("{} is {other} ({})", row.label, row.reason).into()),
        }
    }
    let common = |all: bool| -> Vec<Vec<f64>> {
        let costs: Vec<BTreeMap<u64, f64>> = rows.iter().map(|row| costs(row, of, all)).collect();
        let Some(first) = costs.first() else { return Vec::new() };
        let of_round = |round: &u64| costs.iter().map(|row| row.get(round).copied()).collect::<Option<Vec<f64>>>();
        first.keys().filter_map(of_round).collect()
    };
    let values = common_rounds(common, Vec::len).iter().map(|costs| formula(costs)).collect::<Result<Vec<f64>, E>>()?;
    if values.iter().any(|value| !value.is_finite()) {
        return Err("it has no value in one of the rounds".to_owned().into());
    }
    let value = median(&values).ok_or_else(|| "no round holds all of the rows".to_owned())?;
    let interval = (values.len() >= FEWEST).then(|| median_interval(&sorted(&values), CONFIDENCE)).flatten();
    Ok(Joint { value, interval: interval.map(|interval| (interval.low, interval.high)), rounds: values.len() })
}

/// Cost in each round; of several starts in a round their median. If `all`, with the disturbed starts that were left out.
fn costs(row: &Row<'_>, of: Of, all: bool) -> BTreeMap<u64, f64> {
    let summary = &row.summary;
    let (counted, disturbed) = match of {
        Of::Medians => (&summary.invocation_medians, &summary.disturbed_medians),
        Of::Means => (&summary.invocation_means, &summary.disturbed_means),
    };
    let mut rounds = if all { by_round(disturbed) } else { BTreeMap::new() };
    rounds.extend(by_round(counted));
    rounds
}

fn by_round(starts: &[(u64, f64)]) -> BTreeMap<u64, f64> {
    let mut rounds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    starts.iter().for_each(|&(round, value)| rounds.entry(round).or_default().push(value));
    rounds.into_iter().filter_map(|(round, values)| Some((round, median(&values)?))).collect()
}
