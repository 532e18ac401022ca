//! What a load costs by a mechanism whose rows were measured with as many contexts.

use crate::Row;
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_stats::mean_interval;

/// What a program does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Load {
    /// Switches a second.
    pub rate: f64,
    /// Contexts alive at once.
    pub contexts: u64,
    /// Largest share of a CPU that switching may take, as a fraction.
    pub cpu: f64,
}

/// What it costs by one mechanism.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Burden {
    /// The mechanism.
    pub mechanism: String,
    /// Whether it fits.
    pub fit: Fit,
    /// Share of a CPU: rate × mean cost.
    pub cpu: f64,
    /// Its 95 % interval; null with fewer than 6 starts.
    pub interval: Option<(f64, f64)>,
    /// Bytes of all contexts; null where that is not measured.
    pub memory: Option<f64>,
}

/// Whether a mechanism stays within the share of a CPU. Memory decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The whole interval does.
    Fits,
    /// The interval holds the limit, or there is none.
    CannotTell,
    /// The whole interval lies beyond it.
    DoesNotFit,
}

impl Load {
    /// What it costs by the switches of a row, and the memory by those of another; None: the row has no figure.
    #[must_use]
    pub fn burden(&self, mechanism: String, switches: &Row<'_>, memory: Option<&Row<'_>>) -> Option<Burden> {
        let share = |ns: f64| ns.max(0.0) * self.rate / 1e9;
        let means: Vec<f64> = switches.summary.invocation_means.iter().map(|&(_, mean)| mean).collect();
        let interval = mean_interval(&means).map(|ns| (share(ns.low), share(ns.high)));
        let fit = match interval {
            Some((_, high)) if high <= self.cpu => Fit::Fits,
            Some((low, _)) if low > self.cpu => Fit::DoesNotFit,
            _ => Fit::CannotTell,
        };
        let cpu = share(switches.summary.figures.as_ref()?.mean);
        let memory = memory.and_then(|row| Some(row.median()? * self.contexts as f64));
        Some(Burden { mechanism, fit, cpu, interval, memory })
    }
}
