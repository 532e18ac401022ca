//! `run`: measure, show, store.

use super::measure::{Effort, More, effort, go_on, show};
use crate::arguments::{DetailOptions, parse_contexts, what_to_measure, where_to_run};
use crate::formats::Form;
use clap::Parser;
use clap::builder::ArgPredicate;
use std::path::Path;
use std::time::{Duration, Instant};
use switchcost_model::{self as model, Experiment, Placement, Request, Timing};
use switchcost_session::arguments::{StoreOption, bounded_time, parse_budget, parse_word};
use switchcost_session::{Action, Exit, Failure, Session, open_store, paths};
use switchcost_store::Store;

/// Measure the main mechanisms, or those that the patterns name
#[derive(Parser, Debug)]
#[command(name = "run")]
pub struct Run {
    /// Mechanisms by name, family or glob, or rows: thread/pipe, stack, '*/pipe', 'thread/pipe free'
    ///
    /// Words after a name, in the same argument, say which rows: 'stack/asm@gcc-12 contexts=100'.
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Every mechanism, not only the main ones
    #[arg(long, conflicts_with = "patterns")]
    pub all: bool,
    /// What to measure
    #[arg(long, help = what_to_measure(""), value_name = "E", value_parser = parse_word::<Experiment>)]
    pub experiment: Option<Experiment>,
    /// Contexts that switch in turn [default: 2]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = parse_contexts)]
    pub contexts: Vec<u64>,
    /// Where the contexts run
    #[arg(long, help = where_to_run(false), long_help = where_to_run(true), value_name = "P,...", value_delimiter = ',', value_parser = parse_word::<Placement>)]
    pub placement: Vec<Placement>,
    /// batch, or each for percentiles
    ///
    /// batch: clock around many switches; each: cycle counter at every switch.
    #[arg(long, value_name = "T", default_value = "batch", value_parser = parse_word::<Timing>)]
    pub timing: Timing,
    /// Time limit [default: 60s; ladder 30s; --quick 10s]
    #[arg(long, value_name = "TIME", default_value = "30s", hide_default_value = true, value_parser = parse_budget, default_value_ifs([
        ("quick", "true".into(), "10s"), ("all", "true".into(), "60s"), ("patterns", ArgPredicate::IsPresent, "60s")
    ]))]
    pub budget: Duration,
    /// What to measure, and how much
    #[command(flatten)]
    pub effort: Effort,
    /// Continue the newest run of this plan
    ///
    /// It must have stopped early; nothing is measured twice.
    #[arg(long, conflicts_with = "seed")]
    pub resume: bool,
    /// Target length of a batch
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = parse_batch)]
    pub batch_time: Duration,
    /// Verbosity
    #[command(flatten)]
    pub detail: DetailOptions,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table", value_parser = Form::parser(true))]
    pub format: Form,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Run {
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure> {
        let request = request(self)?;
        if self.resume {
            let path = paths::store(self.store.path())?;
            let more = More { store: &path, budget: request.budget, wait: self.effort.wait, started };
            return Ok(go_on(stopped(&request, &path)?, &more, self.format, self.detail.style())?.1);
        }
        let store = open_store(self.store.path())?;
        let session = Session::answering(&request, started, self.effort.wait)?;
        let mut selection = session.select(&request)?;
        selection.add_twins(&session.catalogue, &session.probes);
        let measured = session.measure(&request, selection, store)?;
        Ok(show(&session, measured, self.format, self.detail.style())?.1)
    }
}

/// The newest run of this store by the same plan, whatever its seed and its budget.
fn stopped(request: &Request, path: &Path) -> Result<model::Run, Failure> {
    let store = Store::open_read_only(path).map_err(Failure::usage)?;
    for header in store.list().map_err(Failure::usage)?.iter().filter(|header| !header.imported) {
        let known = store.load_if(&header.id, &|_| false).map_err(Failure::usage)?;
        let plan = known.request;
        // `explain` and others measure by the same plan, and stop where they have their answer.
        let by_run = known.command.get(1).is_some_and(|command| command == "run");
        if by_run && (Request { seed: plan.seed, budget: plan.budget, ..request.clone() }) == plan {
            return store.load(&header.id).map_err(Failure::usage);
        }
    }
    Err(Failure::usage(
        "--resume: no stored run has this plan; leave --resume out, or repeat its command (`switchcost history`)",
    ))
}

fn request(arguments: &Run) -> Result<Request, Failure> {
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

fn parse_batch(text: &str) -> Result<Duration, String> {
    bounded_time(text, Duration::from_micros(1), Duration::from_secs(10))
}
