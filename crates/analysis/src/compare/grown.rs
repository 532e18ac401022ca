//! Which functions execute more than they did, where what rows execute was counted.

use crate::judge::rules;
use crate::row::Judged;
use crate::summary::counted;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Functions that are named.
const NAMED: usize = 5;

/// A function that executes more in B, or less.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Grown {
    /// Its name, or its object's where there are no symbols.
    pub function: String,
    /// Instructions of its own per unit in A, those of what it calls left out; 0 where A does not have it.
    pub a: f64,
    /// The same in B.
    pub b: f64,
}

/// Those of two rows, the largest difference first.
#[must_use]
pub fn grown(a: &Judged<'_>, b: &Judged<'_>) -> Vec<Grown> {
    let (Some(first), Some(second)) = (functions(a), functions(b)) else { return Vec::new() };
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let of = |functions: &BTreeMap<String, f64>, name: &String| functions.get(name).copied().unwrap_or(0.0);
    let mut all: Vec<Grown> = names
        .into_iter()
        .map(|name| Grown { function: name.clone(), a: of(&first, name), b: of(&second, name) })
        .filter(|one| one.a.to_bits() != one.b.to_bits())
        .collect();
    all.sort_by(|x, y| (y.b - y.a).abs().total_cmp(&(x.b - x.a).abs()));
    all.truncate(NAMED);
    all
}

/// What functions execute per unit, in the last start that counts.
fn functions(row: &Judged<'_>) -> Option<BTreeMap<String, f64>> {
    let last = counted(&row.starts).0.pop()?;
    (rules(row.variant.experiment).made_of)(last.seen.as_ref()?)
}
