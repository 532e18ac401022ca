//! `run`: measure, show, store.

use super::formatted;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths::{self, Installation};
use crate::progress::Live;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;
use switchcost_machine::cpus::Cpus;
use switchcost_model::{Run, Verdict};
use switchcost_runner::{Control, Request, RequestError};
use switchcost_store::Store;

/// Measures what was asked.
pub fn run(arguments: &arguments::Run, started: Instant) -> Result<Exit, Failure> {
    let request = request(arguments)?;
    let installation = Installation::find()?;
    let catalogue = installation.catalogue()?;
    // The store is opened before anything is measured: what cannot be kept need not be waited for.
    let store = Store::open(&paths::store(arguments.store.store.as_deref())?).map_err(Failure::usage)?;
    let interrupt = interrupt()?;
    switchcost_machine::spawn::adopt_orphans().map_err(Failure::internal)?;
    let cpus = Cpus::detect().map_err(Failure::usage)?;
    let mut machine = switchcost_machine::fingerprint();
    machine.findings = switchcost_machine::doctor();
    let probes = switchcost_runner::discover(installation.probes()?, None);
    if probes.is_empty() {
        let folder = installation.probes_folder().display().to_string();
        return Err(Failure::usage(RequestError::NoProbes(folder)));
    }
    let mut selection = switchcost_runner::select(&request, &catalogue, &probes).map_err(Failure::usage)?;
    selection.add_twin(&catalogue);
    let control = Control {
        started,
        interrupt: Some(interrupt.as_fd()),
        cpus: &cpus,
        machine,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args().collect(),
    };
    // The host keeps off the measured CPU. Where there is but one, its few wake-ups between invocations do no harm.
    if let Some(housekeeping) = cpus.housekeeping() {
        switchcost_machine::cpus::pin_self(&[housekeeping]).map_err(Failure::usage)?;
    }
    let mut live = Live::new(store, &catalogue, &request, started);
    let run = switchcost_runner::execute(&request, &catalogue, &probes, selection, &control, &mut live);
    let storing = live.finish();
    output::print(&formatted(&run, &catalogue, arguments.format)?)?;
    if let Err(reason) = storing {
        return Err(Failure {
            sentence: format!("{reason} (the result above was not stored whole)"),
            exit: Exit::Partial,
        });
    }
    Ok(status(&run))
}

fn request(arguments: &arguments::Run) -> Result<Request, Failure> {
    let mut parameters = std::collections::BTreeMap::new();
    for (name, values) in &arguments.parameters {
        if parameters.insert(name.clone(), values.clone()).is_some() {
            return Err(Failure::usage(format!("--param {name} is given twice; join the values by commas")));
        }
    }
    Ok(Request {
        patterns: if arguments.all { vec!["*".to_owned()] } else { arguments.patterns.clone() },
        experiment: arguments.experiment,
        contexts: arguments.contexts.clone(),
        placements: arguments.placement.clone(),
        timing: arguments.timing,
        parameters,
        probes: arguments.probe.clone(),
        rounds: arguments.rounds,
        precision: arguments.precision,
        seed: arguments.seed.unwrap_or_else(|| u64::from(rand::random::<u32>())),
        budget: arguments.budget,
        batches: arguments.batches,
        batch: arguments.batch_time,
    })
}

/// A descriptor that becomes readable on Ctrl-C or SIGTERM; a second one ends the process at once.
fn interrupt() -> Result<OwnedFd, Failure> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let (reader, writer) = UnixStream::pair().map_err(Failure::internal)?;
    let stopping = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, stopping.clone())
            .map_err(Failure::internal)?;
        signal_hook::flag::register(signal, stopping.clone()).map_err(Failure::internal)?;
        signal_hook::low_level::pipe::register(signal, writer.try_clone().map_err(Failure::internal)?)
            .map_err(Failure::internal)?;
    }
    Ok(reader.into())
}

/// The worst that happened decides.
fn status(run: &Run) -> Exit {
    let rows = switchcost_analysis::ladder(run);
    let any = |verdict| rows.iter().any(|row| row.verdict == verdict);
    if any(Verdict::Contradicted) {
        Exit::Contradicted
    } else if !rows.iter().any(|row| row.summary.figures.is_some()) {
        Exit::Nothing
    } else if run.partial() || any(Verdict::Broken) {
        Exit::Partial
    } else {
        Exit::Fine
    }
}
