//! The operations that a row goes through: what two odd rows share hints at the cause.

use serde::{Deserialize, Serialize};

/// What an operation goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Passage {
    /// Instructions alone.
    Core,
    /// Into the kernel and back.
    Entry,
    /// The scheduler as well.
    Switch,
    /// The scheduler, within control groups of their own.
    Group,
    /// A CPU that sleeps.
    Wake,
    /// The path between two CPUs.
    Cache,
    /// Not known.
    Other,
}

impl Passage {
    /// The word of the data file and of the answer.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Entry => "entry",
            Self::Switch => "switch",
            Self::Group => "group",
            Self::Wake => "wake",
            Self::Cache => "cache",
            Self::Other => "other",
        }
    }
}
