//! `run`: measure, show, store.

use super::measure::{Effort, effort, show};
use crate::arguments::{DetailOptions, parse_contexts, what_to_measure, where_to_run};
use crate::formats::Form;
use clap::Parser;
use std::time::{Duration, Instant};
use switchcost_model::{Experiment, Placement, Request, Timing};
use switchcost_session::arguments::{StoreOption, bounded_time, parse_budget, parse_word};
use switchcost_session::{Action, Exit, Failure, Session, open_store};

/// Time for the main mechanisms.
const LADDER: Duration = Duration::from_secs(30);

/// Parameter that `--stop-at` is another word for.
const STOP_AT: &str = "stop_at";

/// Time for those that were named.
const USUAL: Duration = Duration::from_secs(60);

/// Measure the main mechanisms, or those that the patterns name
#[derive(Parser, Debug)]
#[command(name = "run")]
pub struct Run {
    /// Mechanisms by name, family or glob, or rows: thread/pipe, stack, '*/pipe', 'thread/pipe
    /// free'
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
    #[arg(long, value_name = "TIME", default_value_if("quick", "true", "10s"), value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// What to measure, and how much
    #[command(flatten)]
    pub effort: Effort,
    /// Target length of a batch
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = parse_batch)]
    pub batch_time: Duration,
    /// End a row at a wake-up later than this
    ///
    /// Its parts, who had the CPU and the kernel's trace around it are shown and stored. Each start
    /// is traced, where that can be done here, and the row goes on for the whole of --budget, or
    /// --rounds, if nothing is so late. The same as `--param stop_at=`, in µs.
    #[arg(long, value_name = "TIME", value_parser = parse_lateness)]
    pub stop_at: Option<Duration>,
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
        let store = open_store(self.store.path())?;
        // It is named as it was typed.
        let typed = |failure: Failure| match self.stop_at {
            Some(_) => Failure { sentence: failure.sentence.replace("--param stop_at", "--stop-at"), ..failure },
            None => failure,
        };
        let session = Session::answering(&request, started, &self.effort.how).map_err(typed)?;
        let mut selection = session.select(&request).map_err(typed)?;
        selection.add_twins(&session.catalogue, &session.probes);
        let measured = session.measure(&request, selection, store)?;
        show(&session, measured, self.format, self.detail.style())
    }
}

fn request(arguments: &Run) -> Result<Request, Failure> {
    let countable = arguments.experiment.is_none_or(|experiment| experiment.countable());
    let counts = !arguments.effort.counting.counters.is_empty();
    if counts && (arguments.timing != Timing::Batch || !countable) {
        return Err(Failure::usage(
            "--counters counts batches whose time is measured: leave --timing each out, and that --experiment",
        ));
    }
    let main = arguments.patterns.is_empty() && !arguments.all;
    let mut given = effort(&arguments.effort)?;
    if let Some(lateness) = arguments.stop_at
        && given.parameters.insert(STOP_AT.to_owned(), vec![lateness.as_micros().to_string()]).is_some()
    {
        return Err(Failure::usage(format!("--stop-at and --param {STOP_AT} say the same; leave one of them out")));
    }
    Ok(Request {
        patterns: if arguments.all { vec!["*".to_owned()] } else { arguments.patterns.clone() },
        experiment: arguments.experiment,
        contexts: arguments.contexts.clone(),
        placements: arguments.placement.clone(),
        timing: arguments.timing,
        budget: arguments.budget.unwrap_or(if main { LADDER } else { USUAL }),
        batch: arguments.batch_time,
        ..given
    })
}

fn parse_lateness(text: &str) -> Result<Duration, String> {
    bounded_time(text, Duration::from_micros(1), Duration::from_secs(10))
}

fn parse_batch(text: &str) -> Result<Duration, String> {
    bounded_time(text, Duration::from_micros(1), Duration::from_secs(10))
}
