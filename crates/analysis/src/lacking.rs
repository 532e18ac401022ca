//! Rows that a budget left no time for: how long they take, and for how many of them it would have
//! been enough.

use crate::{Analysis, FEWEST_STARTS, Row};
use switchcost_model::{EndedBy, Reason};

/// Starts of a row by default, until it is precise.
const STARTS: u64 = 10;

/// What a start takes beside its batches, s.
const BESIDE: f64 = 0.06;

/// What a run had no time for; times in s.
pub struct Lacking<'a, 'r> {
    /// Rows without a start that ended.
    pub rows: Vec<&'a Row<'r>>,
    /// What the whole run takes, about, start-up included.
    pub whole: f64,
    /// Part of the budget that was over when the first start began.
    pub before: f64,
    /// Of how many rows the budget would have been enough for an interval.
    pub enough: usize,
}

impl<'a, 'r> Lacking<'a, 'r> {
    /// None: time was enough for every row.
    #[must_use]
    pub fn of(analysis: &'a Analysis<'r>) -> Option<Self> {
        let run = analysis.run;
        let late = |row: &&Row<'_>| row.reason == Some(Reason::NoBudget);
        let rows: Vec<&Row<'r>> = analysis.shown().filter(late).collect();
        if rows.is_empty() || run.ended_by != EndedBy::Budget {
            return None;
        }
        let measured: Vec<f64> = analysis.rows.iter().filter_map(|row| row.median().and(row.start_takes())).collect();
        let start = match measured.len() {
            0 => run.request.batch.as_secs_f64() * run.request.batches as f64 * 1.2 + BESIDE,
            count => measured.iter().sum::<f64>() / count as f64 / 1e9,
        };
        let budget = run.budget_ms as f64 / 1e3;
        let went_by = run.ended_unix_ns.map_or(0, |end| end.saturating_sub(run.started_unix_ns));
        let before = (budget - went_by as f64 / 1e9).max(0.0);
        let starts = run.request.rounds.unwrap_or(STARTS);
        let all = (run.variants.len() - run.not_run.len()) as f64 * starts as f64;
        let enough = (budget - before) / (start * starts.min(FEWEST_STARTS as u64) as f64);
        Some(Self {
            enough: rows.len().min(enough as usize),
            rows,
            whole: in_whole_units(before + start * all),
            before,
        })
    }
}

/// A time in s as people say it, and as `--budget` takes it.
#[must_use]
pub fn time_texts(seconds: f64) -> [String; 2] {
    match seconds {
        ..1.0 => [format!("{:.0} ms", seconds * 1e3), format!("{:.0}ms", (seconds * 1e3).ceil())],
        1.0..60.0 => [format!("{seconds:.0} s"), format!("{:.0}s", seconds.ceil())],
        60.0..5_970.0 => [format!("{:.0} min", seconds / 60.0), format!("{:.0}m", (seconds / 60.0).ceil())],
        _ => [format!("{:.0} h", seconds / 3600.0), format!("{:.0}m", (seconds / 60.0).ceil())],
    }
}

/// Rounded up to 5 seconds, or from a minute on to whole minutes.
fn in_whole_units(seconds: f64) -> f64 {
    let unit = if seconds > 60.0 { 60.0 } else { 5.0 };
    (seconds / unit).ceil() * unit
}

#[cfg(test)]
mod tests {
    use super::{in_whole_units, time_texts};

    #[test]
    fn a_time_that_is_advised_is_one_that_a_budget_takes() {
        assert_eq!(time_texts(0.3), ["300 ms", "300ms"]);
        assert_eq!([time_texts(120.0), time_texts(86_400.0)], [["2 min", "2m"], ["24 h", "1440m"]]);
        assert_eq!([12.0, 61.0, 150.0].map(|time| time_texts(in_whole_units(time))[1].clone()), ["15s", "2m", "3m"]);
    }
}
