//! The probe runs under callgrind, which counts what it executes.

use super::part::HostPart;
use crate::Obstacle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(super) const PART: HostPart =
    HostPart { name: "count", parameters: &[], samples: &["instructions", "system_calls"] };

/// What a probe executed, as callgrind counted it from outside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Executed {
    /// Who counted, with version.
    pub by: String,
    /// Instructions of the whole process at user level.
    pub instructions: u64,
    /// Units that `functions` are of.
    pub units: u64,
    /// Function → instructions of its own in so many units, the [`FUNCTIONS_KEPT`] that executed
    /// most.
    pub functions: BTreeMap<String, i64>,
    /// Function → system calls that it makes itself in so many units, as many at most.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub callers: BTreeMap<String, i64>,
    /// Why it could not be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Obstacle>,
}

/// Functions of which is kept what they executed.
pub const FUNCTIONS_KEPT: usize = 64;
