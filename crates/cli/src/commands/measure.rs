//! What `run` and `sweep` share.

use crate::arguments::{CountersOption, parse_parameter, parse_precision};
use crate::formats::Form;
use crate::formats::formatted;
use clap::Args;
use std::collections::BTreeMap;
use switchcost_analysis::resume_command;
use switchcost_model::Request;
use switchcost_report::Style;
use switchcost_session::arguments::Measuring;
use switchcost_session::{Exit, Failure, Installation, Measured, Session, not_stored, output, seed};

/// What and how much is measured.
#[derive(Args, Debug)]
pub struct Effort {
    /// Parameter of a mechanism, such as fpu_state=differ
    ///
    /// Several values make several rows; `switchcost list NAME` shows the parameters of a
    /// mechanism.
    #[arg(long = "param", value_name = "NAME=V,...", value_parser = parse_parameter)]
    pub parameters: Vec<(String, Vec<String>)>,
    /// Process runs of each row [default: 10 to 40]
    ///
    /// Exactly so many. By default as many as precision needs.
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub rounds: Option<u64>,
    /// A first look, with a small --budget
    ///
    /// Means --precision 10% --batches 10.
    #[arg(long)]
    pub quick: bool,
    /// Half-width of the interval to aim at
    ///
    /// The interval has a confidence of 95 %.
    #[arg(long, value_name = "PERCENT", default_value = "2%", default_value_if("quick", "true", "10%"), value_parser = parse_precision)]
    pub precision: f64,
    /// Probes, such as gcc-12,go [default: the best]
    ///
    /// By id or source, or the folder of one of your own, such as ./tiny: it brings
    /// its mechanisms.
    #[arg(long, value_name = "P,...", value_delimiter = ',')]
    pub probe: Vec<String>,
    /// Batches in each start of a probe
    #[arg(long, value_name = "B", default_value = "30", default_value_if("quick", "true", "10"), value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub batches: u64,
    /// What is counted beside the time
    #[command(flatten)]
    pub counting: CountersOption,
    /// How each command measures
    #[command(flatten)]
    pub how: Measuring,
}

/// Prints what was measured, and only then says that it could not be kept.
pub fn show(session: &Session, (run, stored): Measured, form: Form, style: Style) -> Result<Exit, Failure> {
    let shown = formatted(&run, &session.catalogue, form, style).and_then(|(text, exit)| {
        output::print(&text)?;
        // Tables and JSON say it among their warnings.
        let unsaid = ["csv", "jsonl"].iter().any(|name| form.is(name));
        if let Some(command) = resume_command(&run).filter(|_| unsaid) {
            output::say(&format!("to continue: {command}"));
        }
        Ok(exit)
    });
    match (shown, stored) {
        (shown, Ok(())) => shown,
        (Ok(_), Err(reason)) => Err(not_stored(&reason)),
        // What was measured is nowhere then: the worse of the two is not to be lost for the other.
        (Err(unshown), Err(reason)) => {
            Err(Failure { sentence: format!("{reason}; and {}", unshown.sentence), exit: Exit::Partial })
        }
    }
}

/// What is asked for by the options that all runs along the catalogue share.
pub fn effort(given: &Effort) -> Result<Request, Failure> {
    let mut parameters = BTreeMap::new();
    for (name, values) in &given.parameters {
        if parameters.insert(name.clone(), values.clone()).is_some() {
            return Err(Failure::usage(format!("--param {name} is given twice; join the values by commas")));
        }
    }
    Ok(Request {
        parameters,
        probes: Installation::take_folders(&given.probe)?,
        rounds: given.rounds,
        precision: given.precision,
        seed: seed(given.how.seed),
        batches: given.batches,
        counters: given.counting.counters.clone(),
        ..Request::default()
    })
}
