//! A comparison as JUnit's XML: a case for each row of B, and one for the gate.

use super::{Compared, ComparedRow};
use crate::gate::GateOutcome;
use crate::junit::{Case, End, suite};
use crate::text::Style;
use switchcost_analysis::Outcome;
use switchcost_analysis::number::percent;

/// As JUnit's XML. With a gate a row fails beyond it and is in error where it could have missed that; without one it fails where it is slower.
#[must_use]
pub fn compare_junit(compared: &Compared) -> String {
    let limit = compared.gate.as_ref().map(|gate| gate.limit);
    let uncompared = if limit.is_some() { End::Error } else { End::Skipped };
    let mut cases: Vec<Case> = compared.rows.iter().map(|row| case(row, limit)).collect();
    let case = |name: &str, end: End, says: &str| Case {
        class: "switchcost".into(),
        name: name.to_owned(),
        end,
        says: says.to_owned(),
    };
    cases.extend(compared.skipped.iter().map(|(label, reason)| case(label, uncompared, reason)));
    for side in compared.unmatched.iter().filter(|side| side.lost) {
        cases.extend(side.labels.iter().map(|label| case(label, uncompared, &format!("only {} has it", side.only))));
    }
    if let Some(gate) = &compared.gate {
        let end = match gate.outcome {
            GateOutcome::Passed => End::Passed,
            GateOutcome::Failed => End::Failed,
            GateOutcome::Inconclusive => End::Error,
        };
        cases.push(case(&format!("gate {}", percent(gate.limit)), end, &gate.text()));
    }
    Style::PLAIN.sealed(&suite("switchcost compare", None, &cases))
}

fn case(row: &ComparedRow, limit: Option<f64>) -> Case {
    let comparison = &row.comparison;
    let open = |limit: f64| comparison.interval.is_none_or(|(_, high)| high > 1.0 + limit);
    let end = match limit {
        Some(limit) if comparison.fails(limit) => End::Failed,
        Some(limit) if open(limit) => End::Error,
        None if comparison.outcome == Outcome::Slower => End::Failed,
        _ => End::Passed,
    };
    let interval = comparison.interval.map(|(low, high)| format!(", B/A {low:.3} to {high:.3}"));
    let reason = if comparison.reason.is_empty() { String::new() } else { format!("; {}", comparison.reason) };
    let against = if row.ratio().is_some() { "than" } else { "to" };
    let says = format!("{} {against} {}{}{reason}", row.phrase(), row.a.label, interval.unwrap_or_default());
    Case { class: "switchcost".into(), name: row.b.label.clone(), end, says }
}
