//! `sweep`: a run along an axis.

use super::measure::{Effort, effort, show};
use crate::arguments::{DetailOptions, what_to_measure, where_to_run};
use crate::formats::Form;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Parser};
use std::ffi::OsStr;
use std::fmt;
use std::time::{Duration, Instant};
use switchcost_catalogue::Catalogue;
use switchcost_machine::cpus::Cpus;
use switchcost_model::{Experiment, Placement, Request};
use switchcost_runner::{AXES, Here, KnownProbe, Range, axis_of, headline_with, impossible, listed_axis, select_sweep};
use switchcost_session::arguments::{StoreOption, parse_budget, parse_word};
use switchcost_session::{Action, Exit, Failure, Session, open_store};

/// Measure along an axis: contexts, working set, payload, CPU pairs
#[derive(Parser, Debug)]
#[command(name = "sweep")]
pub struct Sweep {
    /// What is varied; also any parameter of a mechanism
    #[arg(value_name = "AXIS", value_parser = AxisParser)]
    pub axis: String,
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
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Sweep {
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure> {
        let mut request = request(self)?;
        let store = open_store(self.store.path())?;
        let range =
            Range { from: self.from.clone(), to: self.to.clone(), steps: self.steps, values: self.values.clone() };
        let facts = switchcost_machine::fingerprint().stable;
        let refused = |error: &dyn fmt::Display| Failure::usage(format!("sweep {}: {error}", self.axis));
        let named = |catalogue: &Catalogue| axis_of(&self.axis, &catalogue.mechanisms).map_err(|error| refused(&error));
        let points = |request: &Request, catalogue: &Catalogue, cpus: &Cpus, probes: &[KnownProbe]| {
            let here = Here { cpus: cpus.allowed(), facts: &facts };
            let axis = named(catalogue)?;
            select_sweep(request, &*axis, &range, &here, catalogue, probes).map_err(|error| refused(&error))
        };
        let session = Session::by(
            |installation, catalogue, cpus| {
                let axis = named(catalogue)?;
                request.experiment = request.experiment.or_else(|| axis.usual_experiment(&catalogue.mechanisms));
                if request.patterns.is_empty() {
                    request.patterns = headline_with(&*axis, request.experiment, catalogue);
                }
                let known = installation.probes(catalogue);
                let unasked: Vec<KnownProbe> = known.iter().cloned().map(KnownProbe::unasked).collect();
                let planned = points(&request, catalogue, cpus, &unasked)?;
                impossible(&planned, catalogue, cpus).map_or(Ok(known), |reason| Err(refused(&reason)))
            },
            None,
            started,
            Some(self.budget),
            &self.effort.how,
        )?;
        let mut selection = points(&request, &session.catalogue, &session.cpus, &session.probes)?;
        selection.add_twins(&session.catalogue, &session.probes);
        let measured = session.measure(&request, selection, store)?;
        show(&session, measured, self.format, self.detail.style())
    }
}

fn request(arguments: &Sweep) -> Result<Request, Failure> {
    Ok(Request {
        patterns: arguments.patterns.clone(),
        axis: Some(listed_axis(&arguments.axis).map_or(&*arguments.axis, |listed| listed.name()).to_owned()),
        experiment: arguments.experiment,
        placements: arguments.placement.clone(),
        budget: arguments.budget,
        ..effort(&arguments.effort)?
    })
}

/// Offers the listed axes and takes any word: parameters are known when the pages have been read.
#[derive(Clone)]
struct AxisParser;

impl TypedValueParser for AxisParser {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, of: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, of, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(AXES.iter().map(|axis| PossibleValue::new(axis.name()).help(axis.purpose()))))
    }
}
