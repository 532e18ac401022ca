//! Instructions by function: the difference of two starts, of which the second does more units, so that what both do beside their units is in neither.

use crate::data::Data;
use crate::serial::{Said, Start};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kernel's half of the addresses begins here.
const KERNEL: u64 = 1 << 63;

/// A row's sum and its clock agree if they are not further apart.
pub const ADDS_UP: f64 = 0.01;

/// Instructions per unit of a row in one column.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Profile {
    /// By function; `user` is the probe's own.
    pub functions: BTreeMap<String, f64>,
    /// By part of the kernel.
    pub parts: BTreeMap<String, f64>,
    /// Sum of all.
    pub sum: f64,
    /// The same by the clock of the same two starts.
    pub clock: f64,
}

impl Profile {
    /// Its parts come to what its clock says.
    #[must_use]
    pub fn adds_up(&self) -> bool {
        (self.sum / self.clock - 1.0).abs() <= ADDS_UP
    }
}

/// Clock ticks and units of all batches of a start.
fn whole(start: &Start) -> (f64, f64) {
    let ticks = start.transcript.samples.iter().flat_map(|samples| &samples.ticks).map(|tick| *tick as f64).sum();
    (ticks, start.transcript.evidence.as_ref().map_or(0.0, |evidence| evidence.units as f64))
}

/// What the second start executed more than the first, per unit. None: the two did equally many units, or the plugin counted nothing.
#[must_use]
pub fn profile(said: &Said, first: &Start, second: &Start, data: &Data) -> Option<Profile> {
    let ((early, few), (late, many)) = (whole(first), whole(second));
    let units = many - few;
    if units <= 0.0 || second.instructions.is_empty() {
        return None;
    }
    let mut functions: BTreeMap<String, f64> = BTreeMap::new();
    for (start, sign) in [(second, 1.0), (first, -1.0)] {
        for (address, count) in &start.instructions {
            let symbol = said.symbols.range(..=address).next_back().filter(|_| *address >= KERNEL);
            let name = symbol.map_or(if *address < KERNEL { "user" } else { "unnamed" }, |(_, name)| {
                // Parts that the compiler split off a function count to it.
                name.split('.').next().unwrap_or(name)
            });
            *functions.entry(name.to_owned()).or_default() += sign * *count as f64 / units;
        }
    }
    let mut parts: BTreeMap<String, f64> = BTreeMap::new();
    for (function, count) in &functions {
        let part = if function == "user" { "the probe" } else { data.part_of(function) };
        *parts.entry(part.to_owned()).or_default() += count;
    }
    let sum = functions.values().sum();
    functions.retain(|_, count| count.abs() >= 0.05);
    Some(Profile { functions, parts, sum, clock: (late - early) / units })
}
