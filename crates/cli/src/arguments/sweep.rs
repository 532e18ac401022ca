//! `sweep`.

use super::{DetailOptions, Effort, StoreOption, parse_budget, parse_word, what_to_measure, where_to_run};
use crate::formats::Form;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::fmt;
use std::time::Duration;
use switchcost_model::{Experiment, Placement};
use switchcost_runner::{AXES, Axis};

/// What only a new sweep may say.
const NEW: [&str; 14] = [
    "axis",
    "patterns",
    "from",
    "to",
    "steps",
    "values",
    "placement",
    "experiment",
    "parameters",
    "rounds",
    "precision",
    "seed",
    "probe",
    "batches",
];

/// `sweep`.
#[derive(Args, Debug)]
pub struct Sweep {
    /// What is varied
    #[arg(value_name = "AXIS", required_unless_present = "resume", value_parser = AxisWord::parser())]
    pub axis: Option<AxisWord>,
    /// Globs over family/name [default: those that `run` measures and that have the axis]
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// First point; sizes may end in K, M or G
    #[arg(long, value_name = "N")]
    pub from: Option<String>,
    /// Last point
    #[arg(long, value_name = "N")]
    pub to: Option<String>,
    /// Number of points from the first to the last, in a geometric series
    #[arg(long, value_name = "K")]
    pub steps: Option<u64>,
    /// The points themselves; for cpus the numbers of the CPUs
    #[arg(long, value_name = "V,...", value_delimiter = ',', conflicts_with_all = ["from", "to", "steps"])]
    pub values: Vec<String>,
    /// Where the contexts run
    #[arg(long, help = where_to_run(), value_name = "P,...", value_delimiter = ',', value_parser = parse_word::<Placement>)]
    pub placement: Vec<Placement>,
    /// What to measure
    #[arg(long, help = what_to_measure(" that the axis changes"), value_name = "E", value_parser = parse_word::<Experiment>)]
    pub experiment: Option<Experiment>,
    /// Time limit; continue the rest with --resume
    #[arg(long, value_name = "TIME", default_value = "120s", default_value_if("quick", "true", "20s"), value_parser = parse_budget)]
    pub budget: Duration,
    /// What and how much is measured
    #[command(flatten)]
    pub effort: Effort,
    /// How much is told
    #[command(flatten)]
    pub detail: DetailOptions,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table", value_parser = Form::parser())]
    pub format: Form,
    /// Continue a sweep that stopped early: same plan, same order, nothing is measured twice
    #[arg(long, value_name = "RUN", conflicts_with_all = NEW)]
    pub resume: Option<String>,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
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
