//! What stands in the cells of a row.

use crate::text::kept;
use std::collections::BTreeMap;
use switchcost_analysis::number::{nanoseconds, share};
use switchcost_analysis::{Analysis, Figures, Of, Percentile, Row, Split, Times};
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
        [(name, known.value)].into_iter().chain(ends.into_iter().flatten())
    };
    row.summary.percentiles.iter().flat_map(ends).collect()
}

pub(super) fn split<'a>(analysis: &'a Analysis<'_>, row: &Row<'_>) -> Option<&'a Split> {
    analysis.split_of(row.index)
}

/// A figure under a title that names its measure; without such a title, with a unit of its own.
pub(super) fn amount(row: &Row<'_>, value: f64, measure: &str) -> String {
    if measure.is_empty() { row.quantity.amount(value) } else { nanoseconds(value) }
}

/// The figure, with its measure where the title names another.
pub(super) fn cost(row: &Row<'_>, measure: &str) -> Option<String> {
    let median = row.median()?;
    let figures: Vec<String> = match row.summary.modes.as_slice() {
        [] => vec![amount(row, median, measure)],
        modes => modes.iter().map(|mode| amount(row, mode.value, measure)).collect(),
    };
    let beside = row.beside().map(|value| kept(&format!("({} as measured)", amount(row, value, measure))));
    let figure = figures.join(" or ");
    let figure = match row.measure() {
        own if own == measure => figure,
        _ if measure.is_empty() => format!("{figure} per {}", row.unit),
        own => format!("{figure} {own}"),
    };
    Some([figure].into_iter().chain(beside).collect::<Vec<_>>().join(" "))
}

/// A row's figure in words, with its unit: `1.23 µs (1.32 µs as measured)`, `1.31 µs or 28.0 µs`.
#[must_use]
pub fn figure_of(row: &Row<'_>) -> String {
    let amount = |value: f64| row.quantity.amount(value);
    let beside = row.beside().map_or_else(String::new, |value| format!(" ({} as measured)", amount(value)));
    match row.summary.modes.as_slice() {
        [] => row.median().map_or_else(|| "no figure".to_owned(), |median| amount(median) + &beside),
        modes => modes.iter().map(|mode| amount(mode.value)).collect::<Vec<_>>().join(" or "),
    }
}

pub(super) fn interval(row: &Row<'_>, measure: &str) -> Option<String> {
    if !row.summary.modes.is_empty() {
        return Some("modes".into());
    }
    let ends = |(low, high)| format!("{} – {}", amount(row, low, measure), amount(row, high, measure));
    row.interval().map(ends).or_else(|| row.range().map(|range| format!("range {}", ends(range))))
}

pub(super) fn kernel_switches(row: &Row<'_>) -> Option<String> {
    figures(row)?; // Without a figure, what few starts did says little of the row.
    let rate = row.summary.kernel?.per_unit;
    Some(if rate < 0.0005 { "0".into() } else { format!("{rate:.3}") })
}

pub(super) fn cpus(row: &Row<'_>) -> Option<String> {
    let list: Vec<String> = row.summary.cpus.iter().map(u32::to_string).collect();
    (!list.is_empty()).then(|| list.join(","))
}

/// How much more or less a row costs than the reference, as far as the interval carries it: where that holds 1 they are equal, or nobody knows.
pub(super) fn beside(times: Times) -> String {
    match times.interval {
        Some((low, high)) if low <= 1.0 && 1.0 <= high => {
            times.carried().map_or_else(|| "–".to_owned(), |_| share(1.0))
        }
        _ => share(times.ratio),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_or_less_is_said_where_the_interval_says_it() {
        let said = |ratio, low, high| beside(Times { ratio, interval: Some((low, high)) });
        assert_eq!([said(1.3, 1.1, 1.6), said(0.5, 0.45, 0.55)], [share(1.3), share(0.5)]);
        // Around 1: equal where it is narrow, unknown where it is wide.
        assert_eq!([said(1.02, 0.97, 1.06), said(0.98, 0.95, 1.0)], [share(1.0), share(1.0)]);
        assert_eq!([said(1.3, 0.9, 1.6), said(0.8, 0.4, 1.0)], ["–", "–"]);
        assert_eq!(beside(Times { ratio: 1.3, interval: None }), share(1.3));
    }
}
