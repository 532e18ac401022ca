//! Counts of a unit that a gate does not let through: they are exact, so that one more is one too
//! many, and no interval is needed.

use super::grown::{Grown, callers, is_counted};
use crate::row::Row;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Instructions of a unit, which are the figure of a row that is counted.
const INSTRUCTIONS: &str = "instructions";

/// System calls of a unit.
const SYSTEM_CALLS: &str = "system_calls";

/// Kernel switches of a unit, which are counted beside any figure; they scatter, so that only what
/// is allowed in all bounds them.
const KERNEL_SWITCHES: &str = "kernel_switches";

/// Counts are quotients of whole numbers.
const ROUNDING: f64 = 1e-9;

/// As many of a count as each unit may have.
#[derive(Debug, Clone, PartialEq)]
pub struct Most {
    /// Name of the count, such as system_calls.
    pub count: String,
    /// Per unit.
    pub limit: f64,
}

/// A count of B that is too high.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Exceeded {
    /// Label of the row.
    pub label: String,
    /// Name of the count.
    pub count: String,
    /// Per unit of A; null where A does not have it.
    pub a: Option<f64>,
    /// Per unit of B.
    pub b: f64,
    /// What is allowed in all; null: it is more than the gate allows beyond A.
    pub most: Option<f64>,
    /// Functions that make more system calls, or fewer.
    pub by: Vec<Grown>,
}

/// Counts of a row per unit, by name.
#[must_use]
pub fn counts(row: &Row<'_>) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    if is_counted(row) {
        all.extend(row.summary.parts.clone());
        all.extend(row.summary.figures.as_ref().map(|figures| (INSTRUCTIONS.to_owned(), figures.median)));
    }
    all.extend(row.summary.kernel.map(|kernel| (KERNEL_SWITCHES.to_owned(), kernel.per_unit)));
    all
}

/// What of B is more than `gate` allows beyond A, as a fraction, or more than is allowed in all.
/// Its instructions are its figure, which the gate judges.
#[must_use]
pub fn exceeded(a: &Row<'_>, b: &Row<'_>, gate: f64, most: &[Most]) -> Vec<Exceeded> {
    let (first, second) = (counts(a), counts(b));
    let mut all = Vec::new();
    for (count, &b_has) in &second {
        let a_has = first.get(count).copied();
        let allowed = most.iter().find(|most| most.count == *count).map(|most| most.limit);
        let judged = ![INSTRUCTIONS, KERNEL_SWITCHES].contains(&count.as_str());
        let beyond = a_has.filter(|_| judged).is_some_and(|a| b_has > a * (1.0 + gate) + ROUNDING);
        let most = allowed.filter(|most| b_has > most + ROUNDING);
        if beyond || most.is_some() {
            let by = if count == SYSTEM_CALLS { callers(a, b) } else { Vec::new() };
            all.push(Exceeded { label: b.label.clone(), count: count.clone(), a: a_has, b: b_has, most, by });
        }
    }
    all
}
