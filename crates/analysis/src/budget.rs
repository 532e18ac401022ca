//! What so many switches between so many contexts would cost by a mechanism that was measured.

use crate::{Estimate, Row};
use switchcost_model::{Experiment, Timing};

/// What a program needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Switches a second.
    pub rate: f64,
    /// Contexts alive at once.
    pub contexts: u64,
    /// Bytes that a context touches between two switches; None: next to nothing.
    pub working_set: Option<u64>,
    /// Longest 99th percentile of a switch, ns.
    pub latency_ns: Option<f64>,
    /// Largest share of a CPU.
    pub cpu: f64,
}

/// A figure and what had to be assumed for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The figure.
    pub value: Estimate,
    /// What was extrapolated, empty where it was measured as asked.
    pub extrapolated: Vec<String>,
}

/// What a mechanism would cost.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Offer {
    /// Share of a CPU.
    pub cpu: Option<Answer>,
    /// Bytes of all contexts.
    pub memory: Option<Answer>,
    /// 99th percentile of a switch, ns.
    pub p99: Option<Answer>,
}

/// Whether an offer meets a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// By all that is asked, intervals included.
    Yes,
    /// Something asked exceeds its limit, even at the lower end of its interval.
    No,
    /// Something asked is not known, or its interval holds the limit.
    Unknown,
}

/// Rows of one mechanism, from whatever runs, the newest first.
#[must_use]
pub fn offer(demand: &Demand, working_set_parameter: &str, rows: &[&Row<'_>]) -> Offer {
    Offer {
        cpu: cpu(demand, working_set_parameter, rows),
        memory: memory(demand, rows),
        p99: p99(demand, working_set_parameter, rows),
    }
}

fn estimate(row: &Row<'_>) -> Option<Estimate> {
    let figures = row.summary.figures.as_ref()?;
    let (low, high) = figures.interval.map_or((figures.median, figures.median), |i| (i.low, i.high));
    Some(Estimate { value: figures.median, low, high })
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

fn timed<'r, 'v>(
    demand: &Demand,
    parameter: &str,
    rows: &[&'r Row<'v>],
    timing: Timing,
) -> Option<(&'r Row<'v>, Vec<String>)> {
    let asked = demand.working_set.unwrap_or(0);
    let of =
        rows.iter().copied().filter(|row| row.variant.experiment == Experiment::Switch && row.variant.timing == timing);
    let row = nearest(of, |row| {
        ratio(working_set(row, parameter), asked) * 100.0 + ratio(row.variant.contexts, demand.contexts)
    })?;
    let mut extrapolated = Vec::new();
    if row.variant.contexts != demand.contexts {
        extrapolated.push(format!("measured with {} contexts", row.variant.contexts));
    }
    let had = working_set(row, parameter);
    if had != asked {
        extrapolated.push(format!("measured with a working set of {had} bytes"));
    }
    Some((row, extrapolated))
}

fn cpu(demand: &Demand, parameter: &str, rows: &[&Row<'_>]) -> Option<Answer> {
    let (row, extrapolated) = timed(demand, parameter, rows, Timing::Batch)?;
    let each = estimate(row)?;
    let share = |ns: f64| ns * demand.rate / 1e9;
    Some(Answer {
        value: Estimate { value: share(each.value), low: share(each.low), high: share(each.high) },
        extrapolated,
    })
}

fn memory(demand: &Demand, rows: &[&Row<'_>]) -> Option<Answer> {
    let of = rows.iter().copied().filter(|row| row.variant.experiment == Experiment::Footprint);
    let row = nearest(of, |row| ratio(row.variant.contexts, demand.contexts))?;
    let each = estimate(row)?;
    let all = |bytes: f64| (bytes + demand.working_set.unwrap_or(0) as f64) * demand.contexts as f64;
    let extrapolated = (row.variant.contexts != demand.contexts)
        .then(|| format!("memory measured with {} contexts", row.variant.contexts));
    Some(Answer {
        value: Estimate { value: all(each.value), low: all(each.low), high: all(each.high) },
        extrapolated: extrapolated.into_iter().collect(),
    })
}

fn p99(demand: &Demand, parameter: &str, rows: &[&Row<'_>]) -> Option<Answer> {
    let (row, extrapolated) = timed(demand, parameter, rows, Timing::Each)?;
    let p99 = row.summary.figures.as_ref()?.p99;
    Some(Answer { value: Estimate { value: p99, low: p99, high: p99 }, extrapolated })
}

impl Offer {
    /// Does it fit?
    #[must_use]
    pub fn fit(&self, demand: &Demand) -> Fit {
        let within = |answer: &Option<Answer>, limit: f64| match answer {
            Some(answer) if answer.value.high <= limit => Fit::Yes,
            Some(answer) if answer.value.low > limit => Fit::No,
            _ => Fit::Unknown,
        };
        let cpu = within(&self.cpu, demand.cpu);
        let latency = demand.latency_ns.map_or(Fit::Yes, |limit| within(&self.p99, limit));
        match (cpu, latency) {
            (Fit::No, _) | (_, Fit::No) => Fit::No,
            (Fit::Yes, Fit::Yes) => Fit::Yes,
            _ => Fit::Unknown,
        }
    }

    /// Something in it was not measured as asked.
    #[must_use]
    pub fn extrapolated(&self) -> bool {
        [&self.cpu, &self.memory, &self.p99].into_iter().flatten().any(|answer| !answer.extrapolated.is_empty())
    }
}
