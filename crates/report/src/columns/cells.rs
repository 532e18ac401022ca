//! What stands in the cells of a row.

use crate::answer::Cell;
use crate::text::kept;
use std::collections::BTreeMap;
use switchcost_analysis::{Analysis, Figures, Of, Percentile, Row, Split, Times};
use switchcost_model::Value;
use switchcost_stats::Interval;

pub(super) fn figures<'a>(row: &'a Row<'_>) -> Option<&'a Figures> {
    row.summary.figures.as_ref()
}

/// Figures of a row that one number stands for.
pub(super) fn single<'a>(row: &'a Row<'_>) -> Option<&'a Figures> {
    figures(row).filter(|_| row.summary.modes.is_empty())
}

/// Figure of all batches as they were read, where one number stands for them.
pub(super) fn measured(row: &Row<'_>) -> Option<(f64, Option<Interval>)> {
    let (median, interval, modes) = row.figure(Of::Medians)?;
    modes.is_empty().then_some((median, interval))
}

pub(super) fn percentiles(row: &Row<'_>) -> BTreeMap<String, f64> {
    let ends = |known: &Percentile| {
        let name = known.name();
        let ends = known.interval.map(|ends| [(format!("{name}_low"), ends.low), (format!("{name}_high"), ends.high)]);
        let units = (format!("{name}_n"), known.units as f64);
        [(name, known.value), units].into_iter().chain(ends.into_iter().flatten())
    };
    row.summary.percentiles.iter().flat_map(ends).collect()
}

pub(super) fn split<'a>(analysis: &'a Analysis<'_>, row: &Row<'_>) -> Option<&'a Split> {
    analysis.split_of(row.index)
}

/// The figure with what it is per; of modes each.
pub(super) fn cost(row: &Row<'_>) -> Cell {
    let Some(figure) = amount_of(row) else { return Value::Unknown.into() };
    let beside = row.beside().map(|value| kept(&format!("({} as measured)", row.quantity.amount(value))));
    let figure = format!("{figure} per {}", row.unit);
    [figure].into_iter().chain(beside).collect::<Vec<_>>().join(" ").into()
}

/// Its figure, or each mode, the most frequent first.
fn amount_of(row: &Row<'_>) -> Option<Value> {
    let one = row.one().map(|median| (median, 1.0));
    let figures: Vec<(f64, f64)> = row.summary.shares().into_iter().chain(one).collect();
    (!figures.is_empty()).then(|| Value::Either(figures, row.quantity))
}

/// A row's figure in words, with its unit: `1.23 µs (1.32 µs as measured)`, `28.0 µs (77 %) or 1.31
/// µs`.
#[must_use]
pub fn figure_of(row: &Row<'_>) -> String {
    let beside =
        row.beside().map_or_else(String::new, |value| format!(" ({} as measured)", row.quantity.amount(value)));
    amount_of(row).map_or_else(|| "no figure".to_owned(), |figure| format!("{figure}{beside}"))
}

pub(crate) fn interval(row: &Row<'_>) -> Cell {
    let ends = |(low, high)| Value::between(Value::Amount(low, row.quantity), Value::Amount(high, row.quantity));
    match (row.interval(), row.range()) {
        _ if !row.summary.modes.is_empty() => "modes".into(),
        (Some(interval), _) => ends(interval).into(),
        (None, Some(range)) => format!("range {}", ends(range)).into(),
        (None, None) => Value::Unknown.into(),
    }
}

/// Kernel switches per unit.
pub(crate) fn ctx_switches(row: &Row<'_>) -> Cell {
    // Without a figure, what few starts did says little of the row.
    figures(row).and(row.summary.kernel).map_or(Value::Unknown, |kernel| Value::Rate(kernel.per_unit)).into()
}

pub(crate) fn cpus(row: &Row<'_>) -> Cell {
    let list: Vec<String> = row.summary.cpus.iter().map(u32::to_string).collect();
    if list.is_empty() { Value::Unknown.into() } else { list.join(",").into() }
}

/// An amount, if it is known.
pub(crate) fn figure(row: &Row<'_>, value: Option<f64>) -> Cell {
    value.map_or(Value::Unknown, |value| Value::Amount(value, row.quantity)).into()
}

/// How much more or less a row costs than the reference, as far as the interval carries it: where
/// that holds 1 they are equal, or nobody knows, as without any.
pub(crate) fn beside(times: Times) -> Value {
    match times.interval {
        Some((low, high)) if low <= 1.0 && 1.0 <= high => {
            times.carried().map_or(Value::Unknown, |_| Value::Beside(1.0))
        }
        Some(_) => Value::Beside(times.ratio),
        None => Value::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_analysis::number::share;

    #[test]
    fn more_or_less_is_said_where_the_interval_says_it() {
        let said = |ratio, low, high| beside(Times { ratio, interval: Some((low, high)) }).to_string();
        assert_eq!([said(1.3, 1.1, 1.6), said(0.5, 0.45, 0.55)], [share(1.3), share(0.5)]);
        // Around 1: equal where it is narrow, unknown where it is wide.
        assert_eq!([said(1.02, 0.97, 1.06), said(0.98, 0.95, 1.0)], [share(1.0), share(1.0)]);
        assert_eq!([said(1.3, 0.9, 1.6), said(0.8, 0.4, 1.0)], ["–", "–"]);
        assert_eq!(beside(Times { ratio: 1.3, interval: None }).to_string(), "–");
    }
}
