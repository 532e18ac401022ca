//! What so many switches between so many contexts would cost by a mechanism that was measured.

use crate::Row;
use switchcost_model::{Experiment, Quantity, Timing};
use switchcost_stats::{Interval, mean_interval};

/// What a program needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Switches a second.
    pub rate: f64,
    /// Contexts alive at once.
    pub contexts: u64,
    /// Bytes that a context touches between two switches; None: next to nothing.
    pub working_set: Option<u64>,
    /// 99th percentile of a switch that is wished for, ns. It decides nothing: what is measured is a closed loop.
    pub latency_ns: Option<f64>,
    /// Largest share of a CPU.
    pub cpu: f64,
}

impl Demand {
    fn touched(&self) -> u64 {
        self.working_set.unwrap_or(0)
    }
}

/// A figure, and with what it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The figure.
    pub value: f64,
    /// Its 95 % interval; None: fewer than 6 starts, or a figure that has none.
    pub interval: Option<Interval>,
    /// Contexts of the row.
    pub contexts: u64,
    /// Bytes that they touched between two switches.
    pub working_set: u64,
    /// Both are those asked for; else it is a guess.
    pub measured: bool,
}

/// What a mechanism would cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Offer {
    /// Share of a CPU: rate × mean.
    pub cpu: Option<Answer>,
    /// Bytes of all contexts.
    pub memory: Option<Answer>,
    /// 99th percentile of a switch, ns: of uncontended consecutive switches in a closed loop.
    pub p99: Option<Answer>,
}

/// Whether an offer meets a demand. Memory and the closed loop's percentile decide nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The whole interval is within the share of a CPU that is asked.
    Yes,
    /// The whole interval is beyond it.
    No,
    /// The interval holds the limit, or there is none.
    Unknown,
    /// It was not measured as asked.
    Guess,
}

/// What one mechanism offers by its rows, from whatever runs, the newest first; `memories` are of it or of one with the same contexts.
#[must_use]
pub fn offer(demand: &Demand, working_set_parameter: &str, rows: &[&Row<'_>], memories: &[&Row<'_>]) -> Offer {
    Offer {
        cpu: cpu(demand, working_set_parameter, rows),
        memory: memory(demand, memories),
        p99: p99(demand, working_set_parameter, rows),
    }
}

/// The row whose size is nearest to the one asked, by ratio; of equals the first, which is the newest.
fn nearest<'r, 'v>(rows: impl Iterator<Item = &'r Row<'v>>, distance: impl Fn(&Row<'v>) -> f64) -> Option<&'r Row<'v>>
where
    'v: 'r,
{
    rows.fold(None, |best: Option<&Row<'v>>, row| match best {
        Some(best) if distance(best) <= distance(row) => Some(best),
        _ => Some(row),
    })
}

fn ratio(a: u64, b: u64) -> f64 {
    (a.max(1) as f64 / b.max(1) as f64).ln().abs()
}

/// The working set of a row; 0 where the mechanism has no such parameter.
fn working_set(row: &Row<'_>, parameter: &str) -> u64 {
    row.variant.parameters.get(parameter).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The nearest row of this timing, and an answer that waits for its figure.
fn timed<'r, 'v>(
    demand: &Demand,
    parameter: &str,
    rows: &[&'r Row<'v>],
    timing: Timing,
) -> Option<(&'r Row<'v>, Answer)> {
    let of = rows
        .iter()
        .copied()
        .filter(|row| row.variant.experiment == Experiment::usual() && row.variant.timing == timing);
    let row = nearest(of, |row| {
        ratio(working_set(row, parameter), demand.touched()) * 100.0 + ratio(row.variant.contexts, demand.contexts)
    })?;
    let (contexts, working_set) = (row.variant.contexts, working_set(row, parameter));
    let measured = (contexts, working_set) == (demand.contexts, demand.touched());
    Some((row, Answer { value: 0.0, interval: None, contexts, working_set, measured }))
}

fn cpu(demand: &Demand, parameter: &str, rows: &[&Row<'_>]) -> Option<Answer> {
    let (row, answer) = timed(demand, parameter, rows, Timing::Batch)?;
    let share = |ns: f64| ns.max(0.0) * demand.rate / 1e9;
    let means: Vec<f64> = row.summary.invocation_means.iter().map(|&(_, mean)| mean).collect();
    let interval = mean_interval(&means);
    Some(Answer {
        value: share(row.summary.figures.as_ref()?.mean),
        interval: interval.map(|ns| Interval { low: share(ns.low), high: share(ns.high) }),
        ..answer
    })
}

fn memory(demand: &Demand, memories: &[&Row<'_>]) -> Option<Answer> {
    let of = memories.iter().copied().filter(|row| row.quantity == Quantity::MEMORY);
    let row = nearest(of, |row| ratio(row.variant.contexts, demand.contexts))?;
    let figures = row.summary.figures.as_ref()?;
    let all = |bytes: f64| (bytes + demand.touched() as f64) * demand.contexts as f64;
    Some(Answer {
        value: all(figures.median),
        interval: figures.interval.map(|bytes| Interval { low: all(bytes.low), high: all(bytes.high) }),
        contexts: row.variant.contexts,
        working_set: 0,
        measured: row.variant.contexts == demand.contexts,
    })
}

fn p99(demand: &Demand, parameter: &str, rows: &[&Row<'_>]) -> Option<Answer> {
    let (row, answer) = timed(demand, parameter, rows, Timing::Each)?;
    Some(Answer { value: row.summary.figures.as_ref()?.p99, ..answer })
}

impl Offer {
    /// Does it fit?
    #[must_use]
    pub fn fit(&self, demand: &Demand) -> Fit {
        let Some(cpu) = self.cpu.filter(|cpu| cpu.measured) else { return Fit::Guess };
        match cpu.interval {
            Some(interval) if interval.high <= demand.cpu => Fit::Yes,
            Some(interval) if interval.low > demand.cpu => Fit::No,
            _ => Fit::Unknown,
        }
    }
}
