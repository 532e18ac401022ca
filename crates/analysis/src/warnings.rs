//! What makes a run as a whole less trustworthy.

use crate::row::Row;
use switchcost_catalogue::grammar::command_line;
use switchcost_model::{EndedBy, Run, Severity, ToldFinding, Verdict};

/// The command that goes on with a run that the user stopped, or a sweep that stopped before its end; None for others.
#[must_use]
pub fn resume_command(run: &Run) -> Option<String> {
    run.invocations.first()?; // A run of nothing is not stored.
    let stopped = run.ended_by == EndedBy::Interrupt || (run.request.axis.is_some() && run.ended_by.resumable());
    let (command, rest) = run.command.get(1..).filter(|_| stopped)?.split_first()?;
    Some(command_line(["switchcost", command, "--resume"].into_iter().chain(rest.iter().map(String::as_str))))
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
        let ToldFinding { what, effect, cure, .. } = finding.told();
        let parts = [("Effect", effect), ("Cure", cure)].into_iter().filter(|(_, text)| !text.is_empty());
        warnings.push(what + &parts.map(|(name, text)| format!(". {name}: {text}")).collect::<String>() + ".");
    }
    warnings
}
