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

/// The word of the data file and of the answer.
impl std::fmt::Display for Passage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}
