//! What limits each conclusion that rests on a row: data, of which `report` makes words.

use crate::figures::Summary;
use crate::row::{Judged, Row};
use crate::rulers::Undisturbed;
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_model::Verdict;
use switchcost_stats::FEWEST;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(tag = "condition", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub enum Condition {
    /// Other programs ran beside so many of the starts that count.
    Disturbed {
        /// These.
        starts: usize,
        /// All that count.
        of: usize,
    },
    /// The machine was slowed beside most of its batches.
    Slowed,
    /// Its starts follow one another so closely that no interval holds.
    Drifting,
    /// Too few starts for an interval.
    FewStarts {
        /// Those there are.
        starts: usize,
        /// Those it takes.
        needed: usize,
    },
    /// Its switches could not be observed.
    Unobserved,
}

impl Condition {
    /// The word that stands beside a row.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Disturbed { .. } => "disturbed",
            Self::Slowed => "slowed",
            Self::Drifting => "drifting",
            Self::FewStarts { .. } => "few runs",
            Self::Unobserved => "unobserved",
        }
    }

    /// The letter that stands for it where there is no room for the word.
    #[must_use]
    pub fn mark(self) -> char {
        if self == Self::Drifting { '~' } else { self.word().chars().next().unwrap_or('*') }
    }

    /// The figure is that of what else ran as well, in each round of its run.
    #[must_use]
    pub const fn moves(self) -> bool {
        matches!(self, Self::Disturbed { .. } | Self::Slowed)
    }

    /// No conclusion can rest on the row's interval.
    #[must_use]
    pub const fn forbids(self) -> bool {
        !matches!(self, Self::Unobserved)
    }
}

impl Row<'_> {
    /// All that limit it; none of a row without a figure.
    #[must_use]
    pub fn conditions(&self) -> Vec<Condition> {
        let Judged { summary: Summary { figures, disturbed_counted, invocation_medians, .. }, .. } = &self.judged;
        if figures.is_none() {
            return Vec::new();
        }
        let (starts, of) = (*disturbed_counted, invocation_medians.len());
        let lacking = self.undisturbed.as_ref().and_then(Undisturbed::lacking).is_some();
        let measured = !self.quantity.exact;
        let few = of < FEWEST && measured;
        [
            (starts > 0 && measured).then_some(Condition::Disturbed { starts, of }),
            lacking.then_some(Condition::Slowed),
            self.range().map(|_| Condition::Drifting),
            few.then_some(Condition::FewStarts { starts: of, needed: FEWEST }),
            (self.verdict == Verdict::Unobservable).then_some(Condition::Unobserved),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
