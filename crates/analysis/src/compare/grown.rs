//! Which functions execute more than they did, where what rows execute was counted.

use crate::judge::rules;
use crate::row::Judged;
use crate::summary::counted;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::Seen;

/// Functions that are named.
const NAMED: usize = 5;

/// A function that executes more in B, or less.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Grown {
    /// Its name, or its object's where there are no symbols.
    pub function: String,
    /// Instructions of its own per unit in A, or its system calls, those of what it calls left out;
    /// 0 where A does not have it.
    pub a: f64,
    /// The same in B.
    pub b: f64,
}

/// Those of two rows, the largest difference first.
#[must_use]
pub fn grown(a: &Judged<'_>, b: &Judged<'_>) -> Vec<Grown> {
    let made_of = |row: &Judged<'_>| last(row, rules(row.variant.experiment).made_of);
    made_of(a).zip(made_of(b)).map_or_else(Vec::new, |(a, b)| differences(&a, &b))
}

/// The same of functions that make system calls.
pub(super) fn callers(a: &Judged<'_>, b: &Judged<'_>) -> Vec<Grown> {
    let callers = |row: &Judged<'_>| last(row, rules(row.variant.experiment).callers);
    callers(a).zip(callers(b)).map_or_else(Vec::new, |(a, b)| differences(&a, &b))
}

/// What it executes is counted, and its counts are exact.
pub(super) fn is_counted(row: &Judged<'_>) -> bool {
    last(row, rules(row.variant.experiment).made_of).is_some()
}

fn differences(first: &BTreeMap<String, f64>, second: &BTreeMap<String, f64>) -> Vec<Grown> {
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let of = |functions: &BTreeMap<String, f64>, name: &String| functions.get(name).copied().unwrap_or(0.0);
    let mut all: Vec<Grown> = names
        .into_iter()
        .map(|name| Grown { function: name.clone(), a: of(first, name), b: of(second, name) })
        .filter(|one| one.a.to_bits() != one.b.to_bits())
        .collect();
    all.sort_by(|x, y| (y.b - y.a).abs().total_cmp(&(x.b - x.a).abs()));
    all.truncate(NAMED);
    all
}

/// Of the last start that counts.
fn last<T>(row: &Judged<'_>, of: fn(&Seen) -> Option<T>) -> Option<T> {
    of(counted(&row.starts).0.pop()?.seen.as_ref()?)
}
