//! `sweep`: a run along an axis.

use super::measure::{Effort, More, effort, go_on, show};
use crate::arguments::{DetailOptions, what_to_measure, where_to_run};
use crate::formats::Form;
use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::fmt;
use std::time::{Duration, Instant};
use switchcost_analysis::resume_command;
use switchcost_catalogue::Catalogue;
use switchcost_machine::cpus::Cpus;
use switchcost_model::{Experiment, Placement, Request, Run};
use switchcost_runner::{AXES, Axis, Here, KnownProbe, Range, headline_with, impossible, select_sweep};
use switchcost_session::arguments::{StoreOption, parse_budget, parse_word};
use switchcost_session::{Action, Exit, Failure, Session, open_store, output, paths};
use switchcost_store::Store;

/// Measure along an axis: contexts, working set, payload, CPU pairs
#[derive(Parser, Debug)]
#[command(name = "sweep")]
pub struct Sweep {
    /// What is varied
    #[arg(value_name = "AXIS", required_unless_present = "resume", value_parser = AxisWord::parser())]
    pub axis: Option<AxisWord>,
    /// Names, families or globs [default: those of `run`]
    ///
    /// By default those that `run` measures by itself and that have the axis.
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// First point; sizes may end in K, M or G
    #[arg(long, value_name = "N")]
    pub from: Option<String>,
    /// Last point
    #[arg(long, value_name = "N")]
    pub to: Option<String>,
    /// Number of points from first to last
    ///
    /// They are a geometric series.
    #[arg(long, value_name = "K")]
    pub steps: Option<u64>,
    /// The points themselves
    ///
    /// For cpus they are the numbers of the CPUs.
    #[arg(long, value_name = "V,...", value_delimiter = ',', conflicts_with_all = ["from", "to", "steps"])]
    pub values: Vec<String>,
    /// Where the contexts run
    #[arg(long, help = where_to_run(false), long_help = where_to_run(true), value_name = "P,...", value_delimiter = ',', value_parser = parse_word::<Placement>)]
    pub placement: Vec<Placement>,
    /// What to measure
    #[arg(long, help = what_to_measure(""), long_help = what_to_measure(" that the axis changes"), value_name = "E", value_parser = parse_word::<Experiment>)]
    pub experiment: Option<Experiment>,
    /// Time limit
    ///
    /// Continue the rest with --resume.
    #[arg(long, value_name = "TIME", default_value = "120s", default_value_if("quick", "true", "20s"), value_parser = parse_budget)]
    pub budget: Duration,
    /// What and how much is measured
    #[command(flatten)]
    pub effort: Effort,
    /// Verbosity
    #[command(flatten)]
    pub detail: DetailOptions,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table", value_parser = Form::parser(true))]
    pub format: Form,
    /// Continue a sweep that stopped early
    ///
    /// Nothing is measured twice.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["axis", "patterns", "from", "to", "steps", "values", "placement", "experiment", "parameters", "rounds", "precision", "seed", "probe", "batches"])]
    pub resume: Option<String>,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Sweep {
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure> {
        let (run, exit) = match &self.resume {
            Some(selector) => resumed(self, selector, started)?,
            None => begin(self, started)?,
        };
        // Tables and JSON say it among their warnings.
        if ["csv", "jsonl"].iter().any(|form| self.format.is(form))
            && let Some(command) = resume_command(&run)
        {
            output::say(&format!("to continue: {command}"));
        }
        Ok(exit)
    }
}

fn begin(arguments: &Sweep, started: Instant) -> Result<(Run, Exit), Failure> {
    let Some(AxisWord(axis)) = arguments.axis else {
        return Err(Failure::internal("a sweep without an axis")); // clap asks for it.
    };
    let mut request = request(arguments)?;
    let store = open_store(arguments.store.path())?;
    let range = Range {
        from: arguments.from.clone(),
        to: arguments.to.clone(),
        steps: arguments.steps,
        values: arguments.values.clone(),
    };
    let facts = switchcost_machine::fingerprint().stable;
    let refused = |error: &dyn fmt::Display| Failure::usage(format!("sweep {}: {error}", axis.name()));
    let points = |request: &Request, catalogue: &Catalogue, cpus: &Cpus, probes: &[KnownProbe]| {
        let here = Here { cpus: cpus.allowed(), facts: &facts };
        select_sweep(request, axis, &range, &here, catalogue, probes).map_err(|error| refused(&error))
    };
    let session = Session::by(
        |installation, catalogue, cpus| {
            request.experiment = request.experiment.or_else(|| axis.usual_experiment(&catalogue.mechanisms));
            if request.patterns.is_empty() {
                request.patterns = headline_with(axis, request.experiment, catalogue);
            }
            let known = installation.probes(catalogue);
            let unasked: Vec<KnownProbe> = known.iter().cloned().map(KnownProbe::unasked).collect();
            let planned = points(&request, catalogue, cpus, &unasked)?;
            impossible(&planned, catalogue, cpus).map_or(Ok(known), |reason| Err(refused(&reason)))
        },
        started,
        Some(arguments.budget),
        arguments.effort.wait,
    )?;
    let mut selection = points(&request, &session.catalogue, &session.cpus, &session.probes)?;
    selection.add_twins(&session.catalogue, &session.probes);
    let measured = session.measure(&request, selection, store)?;
    show(&session, measured, arguments.format, arguments.detail.style())
}

fn request(arguments: &Sweep) -> Result<Request, Failure> {
    Ok(Request {
        patterns: arguments.patterns.clone(),
        axis: arguments.axis.map(|AxisWord(axis)| axis.name().to_owned()),
        experiment: arguments.experiment,
        placements: arguments.placement.clone(),
        budget: arguments.budget,
        ..effort(&arguments.effort)?
    })
}

fn resumed(arguments: &Sweep, selector: &str, started: Instant) -> Result<(Run, Exit), Failure> {
    let path = paths::store(arguments.store.path())?;
    let run = Store::open_read_only(&path).and_then(|store| store.load(selector)).map_err(Failure::usage)?;
    if run.request.axis.is_none() {
        let reason = "it is not a sweep; begin one by `switchcost sweep AXIS`";
        return Err(Failure::usage(format!("--resume {}: {reason}", run.id)));
    }
    let more = More { store: &path, budget: arguments.budget, wait: arguments.effort.wait, started };
    go_on(run, &more, arguments.format, arguments.detail.style())
}

/// An axis, by its word.
#[derive(Clone, Copy)]
pub struct AxisWord(pub &'static dyn Axis);

impl fmt::Debug for AxisWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl AxisWord {
    fn parser() -> impl TypedValueParser<Value = Self> {
        let values = AXES.iter().map(|axis| PossibleValue::new(axis.name()).help(axis.purpose()));
        PossibleValuesParser::new(values).try_map(|name| {
            AXES.iter().find(|axis| axis.name() == name).map(|axis| Self(*axis)).ok_or("there is no such axis")
        })
    }
}
