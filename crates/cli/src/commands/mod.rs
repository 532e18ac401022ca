//! One file per command.

mod baseline;
mod budget;
mod compare;
mod conform;
mod doctor;
mod explain;
mod export;
mod history;
mod import;
mod list;
mod measure;
mod report;
mod run;
mod show;
mod sweep;

use crate::arguments::{Arguments, Command};
use crate::features;
use crate::formats::Form;
use clap::ArgMatches;
use std::time::Instant;
use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;
use switchcost_model::Run;
use switchcost_report::Style;
use switchcost_session::{Exit, Failure, feature, status};

/// Carries out what was typed.
pub fn dispatch(typed: &ArgMatches, started: Instant) -> Result<Exit, Failure> {
    if let Some((name, own)) = typed.subcommand()
        && let Some(ended) = features::carry_out(name, own, started)
    {
        return ended;
    }
    match feature::typed::<Arguments>(typed)?.command {
        Command::Run(arguments) => run::run(&arguments, started),
        Command::Sweep(arguments) => sweep::sweep(&arguments, started),
        Command::List(arguments) => list::list(&arguments),
        Command::Show(arguments) => show::show(&arguments),
        Command::History(arguments) => history::history(&arguments),
        Command::Baseline(arguments) => baseline::baseline(&arguments.action),
        Command::Compare(arguments) => compare::compare(&arguments, started),
        Command::Report(arguments) => report::report(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Budget(arguments) => budget::budget(&arguments),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::CheckProbe(arguments) => conform::probe(&arguments),
        Command::CheckTranscript(arguments) => conform::transcript(&arguments),
    }
}

/// The text of a run in a form, and the status by which its command ends.
pub fn formatted(run: &Run, catalogue: &Catalogue, form: Form, style: Style) -> Result<(String, Exit), Failure> {
    let shown = form.is_for_people().then(|| run.harmless());
    let analysis = Analysis::new(shown.as_ref().unwrap_or(run), catalogue);
    let text = form.write(&analysis, style).map_err(Failure::internal)?;
    Ok((text, status(&analysis)))
}
