//! What makes a run as a whole less trustworthy.

use crate::row::Row;
use switchcost_catalogue::grammar::command_line;
use switchcost_model::{EndedBy, FindingText, Remark, Run, Severity, Verdict, remark};

/// The command that goes on with a run that the user stopped, or a sweep that stopped before its
/// end; None for others.
#[must_use]
pub fn resume_command(run: &Run) -> Option<String> {
    run.invocations.first()?; // A run of nothing is not stored.
    let stopped = run.ended_by == EndedBy::Interrupt || (run.request.axis.is_some() && run.ended_by.resumable());
    let (command, rest) = run.command.get(1..).filter(|_| stopped)?.split_first()?;
    Some(command_line(["switchcost", command, "--resume"].into_iter().chain(rest.iter().map(String::as_str))))
}

/// What makes the run as a whole less trustworthy, each with effect and cure.
#[must_use]
pub(crate) fn warnings(run: &Run, shown: &[&Row<'_>]) -> Vec<Remark> {
    let contradicted = shown.iter().filter(|row| row.verdict == Verdict::Contradicted);
    let mut warnings: Vec<Remark> =
        contradicted.map(|row| remark!(contradicted, row = row.label.as_str(), why = row.why())).collect();
    let go_on = resume_command(run);
    warnings.extend(match run.ended_by {
        EndedBy::Interrupt if go_on.is_some() => Some(remark!(interrupted_resumable, go_on)),
        EndedBy::Interrupt => Some(remark!(interrupted)),
        EndedBy::Unfinished if go_on.is_some() => Some(remark!(unfinished_resumable, go_on)),
        EndedBy::Unfinished => Some(remark!(unfinished)),
        EndedBy::Budget if go_on.is_some() => {
            Some(remark!(budget_resumable, seconds = plain(run.budget_ms / 1000), go_on))
        }
        EndedBy::Budget => Some(remark!(budget, seconds = plain(run.budget_ms / 1000))),
        EndedBy::Precision | EndedBy::Rounds | EndedBy::Nothing => None,
    });
    let slow: Vec<&str> = shown.iter().filter(|row| row.slowed()).map(|row| row.label.as_str()).collect();
    if !slow.is_empty() {
        warnings.push(remark!(machine_slowed, rows = slow.join(", ")));
    }
    for finding in run.machine.findings.iter().filter(|finding| finding.severity == Severity::Warning) {
        let FindingText { what, effect, cure, .. } = finding.text();
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        warnings.push(remark!(finding, what, effect = given(effect), cure = given(cure)));
    }
    warnings
}

/// Without commas.
fn plain(number: u64) -> String {
    number.to_string()
}
