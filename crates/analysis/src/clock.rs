//! What the core's clock does to a row. A host changes it by how many of its cores are busy, within
//! seconds and by a tenth, and tells its guests nothing; the ruler `chain`, a fixed number of
//! cycles, shows it beside each batch (docs/notebook/2026-11-25-clock.md).

use switchcost_stats::{mad, median};

/// A reading of the clock's ruler that is so many times its best was interrupted: no clock moves as
/// much within a run.
pub(crate) const INTERRUPTED: f64 = 1.3;

/// The scatter of a row's batches falls to less than this share when each is taken at one clock: it
/// follows the clock. Where it rises as clearly, it does not.
const CLEARLY: f64 = 0.9;

/// Scatter of the clock (MAD of its logarithms) from which on a row that does not follow it can be
/// told.
const MOVED: f64 = 0.005;

/// Clocks that differ by no more than this, as a logarithm, are the same: bests of two runs scatter
/// by as much.
pub(crate) const SAME: f64 = 0.01;

/// Whether a row follows the clock, by its batches: each one's cost, and what the clock's ruler
/// took beside it ÷ that of the run's own clock. None: not to be told, most often because the clock
/// stood still.
///
/// To choose by scatter is not to choose by the outcome: at one clock or at many the middle of a
/// row that follows it is the same but for the clock.
fn followed(batches: &[(f64, f64)]) -> Option<bool> {
    let logs = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> { batches.iter().map(of).collect() };
    let plain = mad(&logs(|(cost, _)| cost.ln()))?;
    let at_one_clock = mad(&logs(|(cost, times)| (cost / times).ln()))?;
    let clock = mad(&logs(|(_, times)| times.ln()))?;
    if at_one_clock < CLEARLY * plain {
        Some(true)
    } else if plain < CLEARLY * at_one_clock && clock > MOVED {
        Some(false)
    } else {
        None
    }
}

/// Undisturbed batches of starts, at the run's own clock where the row follows it.
pub(crate) struct AtOneClock {
    /// Costs of each start's batches, with its round.
    pub starts: Vec<(u64, Vec<f64>)>,
    /// See [`followed`].
    pub follows: Option<bool>,
    /// See [`crate::Undisturbed::open`].
    pub open: f64,
}

/// Brings batches to the run's own clock ([`crate::Speed::kept`]), not to its best, which most rows
/// may never have been measured at. `kept`: of each start its round, and of each batch the cost and
/// what the clock's ruler took ÷ that of the run's own; `ruler`: there is one; `on_one_cpu`: all
/// contexts share a CPU, so that the row most likely follows its clock.
pub(crate) fn at_one_clock(kept: Vec<(u64, Vec<(f64, f64)>)>, ruler: bool, on_one_cpu: bool) -> AtOneClock {
    let all: Vec<(f64, f64)> = kept.iter().flat_map(|(_, batches)| batches.iter().copied()).collect();
    let follows = if ruler { followed(&all) } else { None };
    let taken_off = ruler && follows.unwrap_or(on_one_cpu);
    let own = median(&all.iter().map(|(_, times)| *times).collect::<Vec<_>>());
    let own = own.filter(|_| ruler && follows.is_none()).map_or(0.0, f64::ln);
    let open = if own.abs() <= SAME { 0.0 } else { own * if taken_off { -1.0 } else { 1.0 } };
    let cost = |(cost, times): (f64, f64)| if taken_off { cost / times } else { cost };
    let starts = kept.into_iter().map(|(round, batches)| (round, batches.into_iter().map(cost).collect())).collect();
    AtOneClock { starts, follows, open }
}
