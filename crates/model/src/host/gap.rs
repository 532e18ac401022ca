//! A CPU that idles until a task on it is woken: the host reads which idle states it entered.

use super::part::HostPart;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(super) const PART: HostPart = HostPart { name: "gap", parameters: &[], samples: &[] };

/// Name of the parameter that says for how many µs it idles.
pub const GAP: &str = "gap";

/// How the CPU of the task that is woken idled while the units took place, as the kernel counted
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Idled {
    /// The CPU.
    pub cpu: u32,
    /// From the look at the plan to that at the first figures, ns; 0: the host did not look twice.
    pub between_ns: u64,
    /// Idle state → what the kernel counted of it between the looks; None: this system has none, or
    /// does not count them.
    pub states: Option<BTreeMap<String, IdleState>>,
}

/// An idle state of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct IdleState {
    /// Times that it was entered.
    pub entered: u64,
    /// Time in it, ns.
    pub ns: u64,
}
