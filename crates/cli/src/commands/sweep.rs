//! `sweep`: a run along an axis.

use super::measure::{effort, show};
use crate::arguments::{self, AxisWord};
use std::time::Instant;
use switchcost_analysis::resume_command;
use switchcost_model::{Request, Run};
use switchcost_runner::{Here, METHOD_VERSION, Range, headline_with, select_sweep};
use switchcost_session::{Exit, Failure, Session, open_store, output, paths};
use switchcost_store::Store;

/// Measures along an axis, or goes on with that.
pub fn sweep(arguments: &arguments::Sweep, started: Instant) -> Result<Exit, Failure> {
    let (run, exit) = match &arguments.resume {
        Some(selector) => go_on(arguments, selector, started)?,
        None => begin(arguments, started)?,
    };
    // Tables and JSON say it among their warnings.
    if ["csv", "jsonl"].iter().any(|form| arguments.format.is(form))
        && let Some(command) = resume_command(&run)
    {
        output::say(&format!("to continue: {command}"));
    }
    Ok(exit)
}

fn begin(arguments: &arguments::Sweep, started: Instant) -> Result<(Run, Exit), Failure> {
    let Some(AxisWord(axis)) = arguments.axis else {
        return Err(Failure::internal("a sweep without an axis")); // clap asks for it.
    };
    let mut request = request(arguments)?;
    let store = open_store(arguments.store.store.as_deref())?;
    let session = Session::new(started, Some(arguments.budget), arguments.effort.wait)?;
    request.experiment = request.experiment.or_else(|| axis.usual_experiment(&session.catalogue.mechanisms));
    if request.patterns.is_empty() {
        request.patterns = headline_with(axis, request.experiment, &session.catalogue);
    }
    let range = Range {
        from: arguments.from.clone(),
        to: arguments.to.clone(),
        steps: arguments.steps,
        values: arguments.values.clone(),
    };
    let here = Here { cpus: session.cpus.allowed(), facts: &session.machine.stable };
    let mut selection = select_sweep(&request, axis, &range, &here, &session.catalogue, &session.probes)
        .map_err(|error| Failure::usage(format!("sweep {}: {error}", axis.name())))?;
    selection.add_twins(&session.catalogue, &session.probes);
    let measured = session.measure(&request, selection, store)?;
    show(&session, measured, arguments.format, arguments.detail.style())
}

fn request(arguments: &arguments::Sweep) -> Result<Request, Failure> {
    Ok(Request {
        patterns: arguments.patterns.clone(),
        axis: arguments.axis.map(|AxisWord(axis)| axis.name().to_owned()),
        experiment: arguments.experiment,
        placements: arguments.placement.clone(),
        budget: arguments.budget,
        ..effort(&arguments.effort)?
    })
}

/// The plan is the stored request and the stored rows: both are read again, and nothing is chosen anew.
fn go_on(arguments: &arguments::Sweep, selector: &str, started: Instant) -> Result<(Run, Exit), Failure> {
    let path = paths::store(arguments.store.store.as_deref())?;
    let run = Store::open_read_only(&path).and_then(|store| store.load(selector)).map_err(Failure::usage)?;
    let refused = |reason: &str| Failure::usage(format!("--resume {}: {reason}", run.id));
    if run.request.axis.is_none() {
        return Err(refused("it is not a sweep; begin one by `switchcost sweep AXIS`"));
    }
    if !run.ended_by.resumable() {
        return Err(refused("it is complete, nothing is left to measure; `switchcost show` shows it"));
    }
    if run.method_version != METHOD_VERSION {
        return Err(refused(&format!(
            "it was measured by method version {} and this is version {METHOD_VERSION}; begin a new sweep",
            run.method_version
        )));
    }
    let store = open_store(arguments.store.store.as_deref())?;
    let session = Session::new(started, Some(arguments.budget), arguments.effort.wait)?;
    if session.machine.key() != run.machine.key() {
        return Err(refused("it was measured on another machine, or this one has changed since; begin a new sweep"));
    }
    session.same_probes(&run).map_err(|reason| refused(&reason))?;
    let request = Request { budget: arguments.budget, ..run.request.clone() };
    let measured = session.go_on(&request, run, store)?;
    show(&session, measured, arguments.format, arguments.detail.style())
}
