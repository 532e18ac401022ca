//! What the sentences of reasons are made of.

use serde::{Deserialize, Deserializer, Serialize};

/// What the log of a probe that ended without an answer has to add.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "each sentence says what it is")]
pub enum LastWords {
    #[error("")]
    None,
    #[error("; it wrote its messages to standard output; they belong to the descriptor of report_fd")]
    Messages,
    #[error("; its last words: {text} (all of it: `switchcost export RUN`, field log)")]
    Said { text: String },
}

/// JSON has no infinity: a page may leave a count without a bound, which is written as null.
pub(super) fn perhaps_infinite<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
}

/// The same behind a comma, if there is any.
pub(super) fn clause(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(", which is {text}") }
}

pub(super) fn range(least: f64, most: f64) -> String {
    if (most - least).abs() < f64::EPSILON { format!("{least}") } else { format!("{least} to {most}") }
}

pub(super) fn kind_of(kind: &str) -> String {
    if kind == "all" { String::new() } else { format!("{kind} ") }
}

pub(super) fn install(package: &Option<String>) -> String {
    package.as_ref().map(|package| format!("; install {package}")).unwrap_or_default()
}

pub(super) fn only_cpu(cpu: u32, restriction: Option<&str>) -> String {
    match restriction {
        Some(restriction) => format!("only CPU {cpu} may be used: {restriction}"),
        None => format!("this machine has one CPU online, number {cpu}"),
    }
}

/// The bound that failed, between these words; nothing of runs of versions that did not keep it.
pub(super) fn bound(before: &str, bound: &Option<f64>, after: &str) -> String {
    let digits = |bound: f64| if bound.fract() == 0.0 { 0 } else { (2 - bound.abs().log10().floor() as i32).max(0) };
    bound.map_or(String::new(), |bound| format!("{before} {bound:.*}{after}", digits(bound) as usize))
}
