//! What makes a run as a whole less trustworthy.

use crate::row::Row;
use switchcost_catalogue::grammar::command_line;
use switchcost_model::{EndedBy, Run, Severity, Verdict};

/// The command that goes on with a sweep which stopped before its end, or a run that the user stopped; None for others.
#[must_use]
pub fn resume_command(run: &Run) -> Option<String> {
    run.invocations.first()?; // A run of nothing is not stored.
    if run.ended_by == EndedBy::Interrupt && run.command.get(1).is_some_and(|word| word == "run") {
        let typed = run.command.iter().skip(1).map(String::as_str);
        return Some(command_line(["switchcost"].into_iter().chain(typed).chain(["--resume"])));
    }
    run.request.axis.as_ref().filter(|_| run.ended_by.resumable())?;
    let store = run.command_and_store().1.map(|store| ["--store", store]);
    Some(command_line(["switchcost", "sweep", "--resume", &run.id].into_iter().chain(store.into_iter().flatten())))
}

/// What makes the run as a whole less trustworthy, each with effect and cure.
#[must_use]
pub(crate) fn warnings(run: &Run, shown: &[&Row<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();
    for row in shown.iter().filter(|row| row.verdict == Verdict::Contradicted) {
        warnings.push(format!(
            "{}: the evidence contradicts the claim: {}. Do not use this figure; report it with `switchcost export`.",
            row.label,
            row.why()
        ));
    }
    let go_on =
        |otherwise: &str| resume_command(run).map_or(otherwise.to_owned(), |go_on| format!("to continue: {go_on}"));
    match run.ended_by {
        EndedBy::Interrupt => warnings.push(format!(
            "stopped by the user: intervals are wider than requested; {}.",
            go_on("run again to the end")
        )),
        EndedBy::Unfinished => warnings.push(format!(
            "this run has not ended (still running, or killed): {}.",
            go_on("this is what it has so far")
        )),
        EndedBy::Budget => warnings.push(format!(
            "the budget of {} s ended the run: some intervals are wider than requested; {}.",
            run.budget_ms / 1000,
            go_on("allow more with --budget")
        )),
        EndedBy::Precision | EndedBy::Rounds | EndedBy::Nothing => {}
    }
    let slow: Vec<&str> = shown.iter().filter(|row| row.slowed()).map(|row| row.label.as_str()).collect();
    if !slow.is_empty() {
        warnings.push(format!(
            "the machine was slowed while it measured {}: figures are of the undisturbed batches, as far as there are any, and notes have those of all; measure again when nothing else runs on the host.",
            slow.join(", ")
        ));
    }
    for finding in run.machine.findings.iter().filter(|finding| finding.severity == Severity::Warning) {
        let cure = if finding.cure.is_empty() { String::new() } else { format!(". Cure: {}", finding.cure) };
        warnings.push(format!("{}. Effect: {}{cure}.", finding.what, finding.effect));
    }
    warnings
}
