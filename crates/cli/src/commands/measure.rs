//! What `run` and `sweep` share.

use crate::arguments::{parse_parameter, parse_precision};
use crate::formats::Form;
use crate::formats::formatted;
use clap::Args;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use switchcost_model::{Request, Run};
use switchcost_report::Style;
use switchcost_runner::METHOD_VERSION;
use switchcost_session::{Exit, Failure, Measured, Session, not_stored, open_store, output, seed};

/// What and how much is measured.
#[derive(Args, Debug)]
pub struct Effort {
    /// Parameter of a mechanism, such as fpu_state=differ
    ///
    /// Several values make several rows; `switchcost list NAME` shows the parameters of a mechanism.
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
    /// Seed of the random order [default: random]
    ///
    /// It is stored with the run.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Probes, such as gcc-12,go [default: the best]
    ///
    /// By id or source.
    #[arg(long, value_name = "P,...", value_delimiter = ',')]
    pub probe: Vec<String>,
    /// Batches in each start of a probe
    #[arg(long, value_name = "B", default_value = "30", default_value_if("quick", "true", "10"), value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub batches: u64,
    /// Wait until no other switchcost measures here
    ///
    /// The budget begins then.
    #[arg(long)]
    pub wait: bool,
}

/// Prints what was measured, and only then says that it could not be kept. Gives the run, for what is still to be said of it.
pub fn show(session: &Session, (run, stored): Measured, form: Form, style: Style) -> Result<(Run, Exit), Failure> {
    let shown = formatted(&run, &session.catalogue, form, style).and_then(|(text, exit)| {
        output::print(&text)?;
        Ok(exit)
    });
    match (shown, stored) {
        (shown, Ok(())) => shown.map(|exit| (run, exit)),
        (Ok(_), Err(reason)) => Err(not_stored(&reason)),
        // What was measured is nowhere then: the worse of the two is not to be lost for the other.
        (Err(unshown), Err(reason)) => {
            Err(Failure { sentence: format!("{reason}; and {}", unshown.sentence), exit: Exit::Partial })
        }
    }
}

/// What goes on with a stored run has for that.
pub struct More<'a> {
    pub store: &'a Path,
    pub budget: Duration,
    pub wait: bool,
    pub started: Instant,
}

/// Goes on with a stored run. The plan is the stored request and the stored rows: both are read again, and nothing is chosen anew.
pub fn go_on(run: Run, more: &More<'_>, form: Form, style: Style) -> Result<(Run, Exit), Failure> {
    let refused = |reason: &str| Failure::usage(format!("--resume {}: {reason}", run.id));
    if !run.ended_by.resumable() {
        return Err(refused("it is complete, nothing is left to measure; `switchcost show` shows it"));
    }
    if run.method_version != METHOD_VERSION {
        return Err(refused(&format!(
            "it was measured by method version {} and this is version {METHOD_VERSION}; begin a new one",
            run.method_version
        )));
    }
    let store = open_store(Some(more.store))?;
    let session = Session::new(more.started, Some(more.budget), more.wait)?;
    if session.machine.key() != run.machine.key() {
        return Err(refused("it was measured on another machine, or this one has changed since; begin a new one"));
    }
    session.same_probes(&run).map_err(|reason| refused(&reason))?;
    let request = Request { budget: more.budget, ..run.request.clone() };
    let measured = session.go_on(&request, run, store)?;
    show(&session, measured, form, style)
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
        probes: given.probe.clone(),
        rounds: given.rounds,
        precision: given.precision,
        seed: seed(given.seed),
        batches: given.batches,
        ..Request::default()
    })
}
