//! A comparison as JUnit's XML, in the form of the Jenkins schema, which GitLab and others read: a
//! case for each row of B, and one for the gate.

use super::compared::{Compared, ComparedRow};
use super::said::{change, limits, span};
use super::words;
use crate::text::Style;
use switchcost_analysis::number::percent;
use switchcost_analysis::{At, GateOutcome, Outcome, excludes};

/// A case: its name, the element that says how it ended, and one sentence.
type Case = (String, End, String);

/// None: passed.
type End = Option<&'static str>;

const FAILED: End = Some("failure");
const ERROR: End = Some("error");
const SKIPPED: End = Some("skipped");

/// As JUnit's XML. With a gate a row fails beyond it and is in error where it could have missed
/// that; without one it fails where it is slower.
#[must_use]
pub fn compare_junit(compared: &Compared) -> String {
    let limit = compared.gate.as_ref().map(|gate| gate.limit);
    let uncompared = if limit.is_some() { ERROR } else { SKIPPED };
    let mut cases: Vec<Case> = compared.rows.iter().map(|row| case(row, limit, compared.at)).collect();
    cases.extend(compared.skipped.iter().map(|(label, reason)| (label.clone(), uncompared, reason.clone())));
    for side in compared.unmatched.iter().filter(|side| side.lost) {
        let only = format!("only {} has it", side.only);
        cases.extend(side.labels.iter().map(|label| (label.clone(), uncompared, only.clone())));
    }
    if let Some(gate) = &compared.gate {
        let end = match gate.outcome {
            GateOutcome::Passed => None,
            GateOutcome::Failed => FAILED,
            GateOutcome::Inconclusive => ERROR,
        };
        cases.push((format!("gate {}", percent(gate.limit)), end, compared.outcome().unwrap_or_default()));
    }
    // Readers show what stands in a case, and hardly what stands beside it.
    let cautions = compared.cautions.join(" ");
    let accused = cases.iter_mut().filter(|case| !cautions.is_empty() && matches!(case.1, FAILED | ERROR));
    accused.for_each(|case| case.2 += &format!(". {cautions}"));
    Style::PLAIN.sealed(&suite(&cases, &cautions))
}

fn case(row: &ComparedRow, limit: Option<f64>, at: At) -> Case {
    let comparison = &row.comparison;
    let end = match limit {
        Some(limit) if comparison.fails(limit) => FAILED,
        Some(limit) if !excludes(comparison, limit) => ERROR,
        None if comparison.outcome == Outcome::Slower => FAILED,
        _ => None,
    };
    let interval = comparison.interval.map(|_| format!(", interval {}", span(row)));
    let reason = comparison.why.as_ref().map_or(String::new(), |why| format!("; {}", words::reason(why)));
    let against = match comparison.outcome {
        Outcome::Same(_) => "as",
        Outcome::CannotTell => "against",
        _ if row.ratio().is_some() || row.modes().is_some() => "than",
        _ => "to",
    };
    // Rows of two runs have one name.
    let a = if row.a.label == row.b.label { "A" } else { &row.a.label };
    let at = if at == At::Median { String::new() } else { format!("{at}: ") };
    let (change, interval) = (change(row), interval.unwrap_or_default());
    let says = format!("{at}{change} {against} {a}{interval}{reason}{}", limits([row]));
    (row.b.label.clone(), end, says)
}

fn suite(cases: &[Case], cautions: &str) -> String {
    let count = |end: End| cases.iter().filter(|case| case.1 == end).count();
    let totals = format!(
        "name=\"switchcost compare\" tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        cases.len(),
        count(FAILED),
        count(ERROR)
    );
    let each = |(name, end, says): &Case| {
        let (name, says) = (escaped(name), escaped(says));
        let content = match end {
            Some(element) => format!("<{element} message=\"{says}\"/>"),
            None => format!("<system-out>{says}</system-out>"),
        };
        format!("    <testcase classname=\"switchcost\" name=\"{name}\">\n      {content}\n    </testcase>\n")
    };
    let beside = match cautions {
        "" => String::new(),
        cautions => format!("    <system-out>{}</system-out>\n", escaped(cautions)),
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {totals}>\n  <testsuite {totals} skipped=\"{}\">\n{}{beside}  </testsuite>\n</testsuites>\n",
        count(SKIPPED),
        cases.iter().map(each).collect::<String>()
    )
}

/// Text as it may stand between elements and in an attribute. Other characters that XML does not
/// have leave with the seal.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&apos;")
}
