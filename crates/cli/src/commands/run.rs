//! `run`: measure, show, store.

use super::measure::{Effort, effort};
use super::{formatted, report};
use crate::arguments::{DetailOptions, parse_contexts, what_to_measure, where_to_run};
use crate::formats::Form;
use clap::Parser;
use clap::builder::ArgPredicate;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use switchcost_model::{Experiment, Placement, Request, Timing};
use switchcost_session::arguments::{StoreOption, bounded_time, parse_budget, parse_word};
use switchcost_session::{Action, Exit, Failure, Installation, Session, not_stored, open_store, output};

/// Measure the main mechanisms, or those that the patterns name
#[derive(Parser, Debug)]
#[command(name = "run")]
pub struct Run {
    /// Mechanisms by name, family or glob: thread/pipe, stack, '*/pipe'; words that follow in the same argument say
    /// which rows: 'thread/pipe free', 'stack/asm@gcc-12 contexts=100'
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Every mechanism, not only the main ones
    #[arg(long, conflicts_with = "patterns")]
    pub all: bool,
    /// What to measure
    #[arg(long, help = what_to_measure(""), value_name = "E", value_parser = parse_word::<Experiment>)]
    pub experiment: Option<Experiment>,
    /// Contexts in the ring [default: 2]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = parse_contexts)]
    pub contexts: Vec<u64>,
    /// Where the contexts run
    #[arg(long, help = where_to_run(), value_name = "P,...", value_delimiter = ',', value_parser = parse_word::<Placement>)]
    pub placement: Vec<Placement>,
    /// batch: clock around many switches; each: cycle counter at every switch, for percentiles
    #[arg(long, value_name = "T", default_value = "batch", value_parser = parse_word::<Timing>)]
    pub timing: Timing,
    /// Time limit for the whole run, such as 20s or 2m [default: 60s; of the ladder 30s; with --quick 10s]
    #[arg(long, value_name = "TIME", default_value = "30s", hide_default_value = true, value_parser = parse_budget, default_value_ifs([
        ("quick", "true".into(), "10s"), ("all", "true".into(), "60s"), ("patterns", ArgPredicate::IsPresent, "60s")
    ]))]
    pub budget: Duration,
    /// What to measure, and how much
    #[command(flatten)]
    pub effort: Effort,
    /// Target length of a batch
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = parse_batch)]
    pub batch_time: Duration,
    /// How much is told
    #[command(flatten)]
    pub detail: DetailOptions,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table", value_parser = Form::parser())]
    pub format: Form,
    /// Also write an HTML report [default: switchcost-RUN.html in this folder]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub report: Option<Option<PathBuf>>,
    /// Open that page in a browser
    #[arg(long, requires = "report")]
    pub open: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Run {
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure> {
        let request = request(self)?;
        let template = self.report.as_ref().map(|_| report::template(&Installation::find()?)).transpose()?;
        let store = open_store(self.store.store.as_deref())?;
        let session = Session::new(started, Some(request.budget), self.effort.wait)?;
        let mut selection = session.select(&request)?;
        selection.add_twins(&session.catalogue, &session.probes);
        let (run, stored) = session.measure(&request, selection, store)?;
        let (text, exit) = formatted(&run, &session.catalogue, self.format, self.detail.style())?;
        output::print(&text)?;
        if let (Some(template), Some(file)) = (template, &self.report) {
            let file = report::report_run(&template, &run, &session.catalogue, file.as_deref(), self.open)?;
            // Standard output may be JSON.
            output::say(&format!("page with pictures: {}", file.display()));
        }
        stored.map_err(|reason| not_stored(&reason))?;
        Ok(exit)
    }
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
