//! A run as JUnit's XML: a case for each row, which fails where the evidence contradicts it.

use super::Format;
use crate::junit::{Case, End, suite};
use crate::text::Style;
use switchcost_analysis::{Analysis, Row};
use switchcost_model::Verdict;

/// For CI systems.
pub struct Junit;

impl Format for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn purpose(&self) -> &'static str {
        "JUnit's XML: a case for each row, failed where evidence contradicts it"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        let run = analysis.run;
        let cases: Vec<Case> = analysis.shown().map(case).collect();
        let started = super::json::time(run.started_unix_ns);
        Ok(Style::PLAIN.sealed(&suite(&format!("switchcost run {}", run.id), Some(&started), &cases)))
    }
}

fn case(row: &Row<'_>) -> Case {
    let (end, says) = match row.verdict {
        Verdict::Verified | Verdict::Unobservable => (End::Passed, figure(row)),
        Verdict::Contradicted => (End::Failed, row.reason.clone()),
        Verdict::Broken => (End::Error, row.reason.clone()),
        Verdict::Unsupported | Verdict::Unmeasured => (End::Skipped, row.reason.clone()),
    };
    Case { class: row.variant.mechanism.family().to_owned(), name: row.label.clone(), end, says }
}

fn figure(row: &Row<'_>) -> String {
    let Some(median) = row.median() else { return format!("{}: no figure", row.verdict) };
    let amount = |value: f64| row.quantity.amount(value);
    if !row.summary.modes.is_empty() {
        let modes = row.summary.modes.iter();
        let modes: Vec<String> =
            modes.map(|mode| format!("{} ({:.0} %)", amount(mode.value), mode.weight * 100.0)).collect();
        return format!("{} per {}, {}", modes.join(" or "), row.unit, row.verdict);
    }
    let interval = row.interval().map(|(low, high)| format!(" ({} – {})", amount(low), amount(high)));
    format!("{} per {}{}, {}", amount(median), row.unit, interval.unwrap_or_default(), row.verdict)
}
