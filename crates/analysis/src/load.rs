//! What a load costs by a mechanism whose rows were measured with as many contexts.

use crate::{Condition, Row};
use schemars::JsonSchema;
use serde::Serialize;

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
    /// Share of a CPU: rate × the row's figure; null where it has modes.
    pub cpu: Option<f64>,
    /// Its 95 % interval, from the lowest mode to the highest, or the range of starts that wander;
    /// null with fewer than 6 starts.
    pub interval: Option<(f64, f64)>,
    /// Bytes of all contexts; null where that is not measured.
    pub memory: Option<f64>,
    /// What limits each conclusion that rests on its row.
    pub conditions: Vec<Condition>,
}

/// Whether a mechanism stays within the share of a CPU. Memory decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The whole interval does.
    Fits,
    /// The interval holds the limit, there is none, or what limits the row forbids a conclusion.
    CannotTell,
    /// The whole interval lies beyond it.
    DoesNotFit,
}

impl Burden {
    /// The least that it may take; without an interval its figure.
    #[must_use]
    pub fn least(&self) -> f64 {
        self.interval.map(|(low, _)| low).or(self.cpu).unwrap_or(f64::INFINITY)
    }

    /// Its figure; of one with modes the least.
    #[must_use]
    pub fn usual(&self) -> f64 {
        self.cpu.unwrap_or_else(|| self.least())
    }
}

impl Load {
    /// What it costs by the switches of a row, and the memory by those of another; None: the row
    /// has no figure.
    #[must_use]
    pub fn burden(&self, mechanism: String, switches: &Row<'_>, memory: Option<&Row<'_>>) -> Option<Burden> {
        let share = |ns: f64| ns.max(0.0) * self.rate / 1e9;
        let interval = switches.reach().map(|(low, high)| (share(low), share(high)));
        let conditions = switches.conditions();
        let fit = match interval.filter(|_| !conditions.iter().any(|limit| limit.forbids())) {
            Some((_, high)) if high <= self.cpu => Fit::Fits,
            Some((low, _)) if low > self.cpu => Fit::DoesNotFit,
            _ => Fit::CannotTell,
        };
        switches.median()?;
        let cpu = switches.one().map(share);
        let memory = memory.and_then(|row| Some(row.median()? * self.contexts as f64));
        Some(Burden { mechanism, fit, cpu, interval, memory, conditions })
    }
}
