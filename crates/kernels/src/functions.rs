//! `data/kernels.toml`, which sorts functions into parts of a kernel. Instructions by function are
//! the difference of two starts, of which the second does more units, so that what both do beside
//! their units is in neither.

use crate::serial::{Said, Start};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The kernel's half of the addresses begins here.
const KERNEL: u64 = 1 << 63;

/// A row's sum and its clock agree if they are not further apart.
pub const ADDS_UP: f64 = 0.01;

/// Rows that are counted, and the parts of a kernel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Rows if nobody names any.
    pub rows: Vec<String>,
    /// A row that makes no system call: it must be equal in all kernels.
    pub control: String,
    /// Beginnings of names of options that change what a switch does.
    pub options: Vec<String>,
    /// Parts of a kernel, each with its functions: globs with at most one `*` at either end. The
    /// first that fits counts.
    pub parts: Vec<(String, Vec<String>)>,
}

impl Data {
    /// The part that a function belongs to.
    pub fn part_of(&self, function: &str) -> &str {
        let fits = |glob: &String| match (glob.strip_prefix('*'), glob.strip_suffix('*')) {
            (Some(inner), Some(_)) => function.contains(inner.trim_end_matches('*')),
            (Some(end), None) => function.ends_with(end),
            (None, Some(start)) => function.starts_with(start),
            (None, None) => function == glob,
        };
        self.parts.iter().find(|(_, functions)| functions.iter().any(fits)).map_or("other", |(part, _)| part)
    }
}

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
    /// What each function executes more than in another profile, per unit.
    pub fn since<'a>(&'a self, other: &'a Self) -> Vec<(&'a String, f64)> {
        let names: BTreeSet<&String> = self.functions.keys().chain(other.functions.keys()).collect();
        let of = |profile: &Self, name| profile.functions.get(name).copied().unwrap_or(0.0);
        names.into_iter().map(|name| (name, of(self, name) - of(other, name))).collect()
    }
}

/// What the second start executed more than the first, per unit. None: the two did equally many
/// units, or the plugin counted nothing.
pub fn profile(said: &Said, first: &Start, second: &Start, data: &Data) -> Option<Profile> {
    let units_of = |start: &Start| start.transcript.evidence.as_ref().map_or(0.0, |evidence| evidence.units as f64);
    let units = Some(units_of(second) - units_of(first)).filter(|by| *by > 0.0 && !second.instructions.is_empty())?;
    let mut profile = Profile::default();
    for (start, sign) in [(second, 1.0 / units), (first, -1.0 / units)] {
        for (address, count) in &start.instructions {
            let named = said.symbols.range(..=address).next_back().map_or("unnamed", |(_, name)| name);
            // Parts that the compiler split off a function count to it.
            let name = if *address < KERNEL { "user" } else { named.split('.').next().unwrap_or(named) };
            *profile.functions.entry(name.to_owned()).or_default() += sign * *count as f64;
        }
        let ticks = start.transcript.samples.iter().flat_map(|samples| &samples.ticks);
        profile.clock += sign * ticks.map(|tick| *tick as f64).sum::<f64>();
    }
    for (function, count) in &profile.functions {
        let part = if function == "user" { "the probe" } else { data.part_of(function) };
        *profile.parts.entry(part.to_owned()).or_default() += count;
        profile.sum += count;
    }
    profile.functions.retain(|_, count| count.abs() >= 0.05);
    Some(profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_belongs_to_the_first_part_that_fits() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/kernels.toml");
        let data: Data = switchcost_catalogue::read(std::path::Path::new(path)).unwrap();
        for (function, part) in [
            ("__x64_sys_futex", "futex"),
            ("do_syscall_64", "entry"),
            ("pick_next_task_fair", "sched"),
            ("hrtimer_interrupt", "timer"),
            ("mem_cgroup_charge", "memcg"),
            ("psi_group_change", "psi"),
            ("nobody_knows", "other"),
        ] {
            assert_eq!(data.part_of(function), part, "{function}");
        }
    }
}
