//! `sweep`: a run along an axis.

use super::Bars;
use super::measure::{Bench, effort, open_store};
use crate::arguments::{self, Arguments, Axis, Command};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths;
use clap::Parser;
use std::time::Instant;
use switchcost_analysis::resume_command;
use switchcost_model::{Experiment, Run};
use switchcost_runner::{METHOD_VERSION, Range, Request, headline_with, select_sweep};
use switchcost_store::Store;

/// Fact of the machine that holds the size of the last-level cache, first that is known.
const LAST_LEVEL_CACHES: [&str; 3] = ["cache.l3", "cache.l2", "cache.l1d"];

/// Working sets go up to so many times the last-level cache.
const CACHES: u64 = 4;

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
        output::say(&format!("to go on: {command}"));
    }
    Ok(exit)
}

fn begin(arguments: &arguments::Sweep, started: Instant) -> Result<(Run, Exit), Failure> {
    let mut request = request(arguments)?;
    let store = open_store(arguments.store.store.as_deref())?;
    let bench = Bench::new(started)?;
    let axis = axis(arguments.axis, &bench)?;
    if request.patterns.is_empty() {
        request.patterns = headline_with(&axis, request.experiment, &bench.catalogue);
    }
    let range = Range {
        from: arguments.from.clone(),
        to: arguments.to.clone(),
        steps: arguments.steps,
        values: arguments.values.clone(),
    };
    let cpus = bench.cpus.allowed();
    let mut selection = select_sweep(&request, &axis, &range, cpus, &bench.catalogue, &bench.probes)
        .map_err(|error| Failure::usage(format!("sweep {}: {error}", word(arguments.axis))))?;
    selection.add_twins(&bench.catalogue);
    bench.show(bench.measure(&request, selection, store)?, arguments.format, Bars::WithoutShapes)
}

fn word(axis: Option<Axis>) -> String {
    let value = axis.as_ref().and_then(clap::ValueEnum::to_possible_value);
    value.map_or(String::new(), |value| value.get_name().to_owned())
}

fn axis(axis: Option<Axis>, bench: &Bench) -> Result<switchcost_runner::Axis, Failure> {
    use switchcost_runner::Axis as Resolved;
    // The word for people with hyphens is the parameter's name with underscores.
    let name = word(axis).replace('-', "_");
    Ok(match axis {
        None => return Err(Failure::internal("a sweep without an axis")), // clap asks for it.
        Some(Axis::Contexts) => Resolved::Contexts,
        Some(Axis::Cpus) => Resolved::Cpus,
        Some(Axis::WorkingSet) => {
            Resolved::Parameter { name, to: Some(last_level_cache(bench).map(|size| size * CACHES)) }
        }
        Some(Axis::Payload | Axis::StackSize | Axis::Sched) => Resolved::Parameter { name, to: None },
    })
}

/// Bytes, of a fact such as `266240K, 2 CPUs`.
fn last_level_cache(bench: &Bench) -> Result<u64, String> {
    let size = |fact: &str| -> Option<u64> {
        let kibibytes = bench.machine.stable.get(fact)?.split(',').next()?.strip_suffix('K')?;
        Some(kibibytes.parse::<u64>().ok()? * 1024)
    };
    LAST_LEVEL_CACHES
        .into_iter()
        .find_map(size)
        .ok_or_else(|| "this machine does not tell the size of its caches".into())
}

fn request(arguments: &arguments::Sweep) -> Result<Request, Failure> {
    let message = (arguments.axis == Some(Axis::Payload)).then_some(Experiment::Message);
    Ok(Request {
        patterns: arguments.patterns.clone(),
        experiment: arguments.experiment.or(message),
        placements: arguments.placement.clone(),
        budget: arguments.budget,
        ..effort(&arguments.effort)?
    })
}

/// The plan is the stored command and the stored rows: both are read again, and nothing is chosen anew.
fn go_on(arguments: &arguments::Sweep, selector: &str, started: Instant) -> Result<(Run, Exit), Failure> {
    let path = paths::store(arguments.store.store.as_deref())?;
    let run = Store::open_read_only(&path).and_then(|store| store.load(selector)).map_err(Failure::usage)?;
    let refused = |reason: &str| Failure::usage(format!("--resume {}: {reason}", run.id));
    let command = Arguments::try_parse_from(&run.command).ok().map(|arguments| arguments.command);
    let Some(Command::Sweep(first)) = command else {
        return Err(refused("it is not a sweep; begin one by `switchcost sweep AXIS`"));
    };
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
    let bench = Bench::new(started)?;
    if bench.machine.key() != run.machine.key() {
        return Err(refused("it was measured on another machine, or this one has changed since; begin a new sweep"));
    }
    bench.same_probes(&run).map_err(|reason| refused(&reason))?;
    let request = Request { budget: arguments.budget, seed: run.seed, ..request(&first)? };
    bench.show(bench.go_on(&request, run, store)?, arguments.format, Bars::WithoutShapes)
}
