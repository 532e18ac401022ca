//! `run`: measure, show, store.

use super::measure::effort;
use super::{formatted, report};
use crate::arguments;
use std::time::Instant;
use switchcost_model::Request;
use switchcost_session::{Exit, Failure, Installation, Session, not_stored, open_store, output};

/// Measures what was asked.
pub fn run(arguments: &arguments::Run, started: Instant) -> Result<Exit, Failure> {
    let request = request(arguments)?;
    let template = arguments.report.as_ref().map(|_| report::template(&Installation::find()?)).transpose()?;
    let store = open_store(arguments.store.store.as_deref())?;
    let session = Session::new(started, Some(request.budget), arguments.effort.wait)?;
    let mut selection = session.select(&request)?;
    selection.add_twins(&session.catalogue, &session.probes);
    let (run, stored) = session.measure(&request, selection, store)?;
    let (text, exit) = formatted(&run, &session.catalogue, arguments.format, arguments.detail.style())?;
    output::print(&text)?;
    if let (Some(template), Some(file)) = (template, &arguments.report) {
        let file = report::report_run(&template, &run, &session.catalogue, file.as_deref(), arguments.open)?;
        // Standard output may be JSON.
        output::say(&format!("page with pictures: {}", file.display()));
    }
    stored.map_err(|reason| not_stored(&reason))?;
    Ok(exit)
}

fn request(arguments: &arguments::Run) -> Result<Request, Failure> {
    Ok(Request {
        patterns: if arguments.all { vec!["*".to_owned()] } else { arguments.patterns.clone() },
        experiment: arguments.experiment,
        contexts: arguments.contexts.clone(),
        placements: arguments.placement.clone(),
        timing: arguments.timing,
        budget: arguments.budget,
        batch: arguments.batch_time,
        ..effort(&arguments.effort)?
    })
}
