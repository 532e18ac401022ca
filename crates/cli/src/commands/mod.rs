//! One file per command.

mod audit;
mod baseline;
mod budget;
mod check;
mod classic;
mod compare;
mod conform;
mod crosscheck;
mod doctor;
mod explain;
mod export;
mod fleet;
mod history;
mod import;
mod list;
mod measure;
mod report;
mod run;
mod show;
mod sweep;
mod wanted;

use crate::arguments::{Arguments, Command};
use crate::exit::{Exit, Failure};
use crate::formats::Form;
use crate::output::say;
use crate::paths::Installation;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;
use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;
use switchcost_model::{Run, harmless};
use switchcost_report::Style;

/// Carries out what was typed.
pub fn dispatch(arguments: Arguments, started: Instant) -> Result<Exit, Failure> {
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments, started),
        Command::Sweep(arguments) => sweep::sweep(&arguments, started),
        Command::List(arguments) => list::list(&arguments),
        Command::Show(arguments) => show::show(&arguments),
        Command::History(arguments) => history::history(&arguments),
        Command::Baseline(arguments) => baseline::baseline(&arguments.action),
        Command::Compare(arguments) => compare::compare(&arguments, started),
        Command::Crosscheck(arguments) => crosscheck::crosscheck(&arguments, started),
        Command::Classic(arguments) => classic::classic(&arguments, started),
        Command::Report(arguments) => report::report(&arguments),
        Command::Audit(arguments) => audit::audit(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Budget(arguments) => budget::budget(&arguments),
        Command::Fleet(arguments) => fleet::fleet(&arguments.action),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::Check(arguments) => check::check(&arguments, started),
        Command::CheckProbe(arguments) => conform::probe(&arguments),
        Command::CheckTranscript(arguments) => conform::transcript(&arguments),
    }
}

/// The text of a run in a form, and the status by which its command ends.
pub fn formatted(run: &Run, catalogue: &Catalogue, form: Form, style: Style) -> Result<(String, Exit), Failure> {
    let shown = form.is_for_people().then(|| run.harmless());
    let analysis = Analysis::new(shown.as_ref().unwrap_or(run), catalogue);
    let text = form.write(&analysis, style).map_err(Failure::internal)?;
    Ok((text, measure::status(&analysis)))
}

/// A run from a file by `export`, judged by the rules of this version.
pub fn run_file(path: &Path) -> Result<Run, Failure> {
    let named = |reason: &dyn std::fmt::Display| Failure::usage(format!("{}: {reason}", path.display()));
    let file = File::open(path).map_err(|error| named(&format!("cannot be read ({error})")))?;
    let mut run = switchcost_store::import_jsonl(&mut BufReader::new(file)).map_err(|error| named(&error))?;
    for line in judged_here(&mut run, &Installation::find()?.catalogue()?) {
        say(&line);
    }
    Ok(run)
}

/// Judges a run that was read from a file by the rules of this version: what it says of itself is not believed. A line for each verdict that
/// changes by that.
fn judged_here(run: &mut Run, catalogue: &Catalogue) -> Vec<String> {
    let changed = switchcost_analysis::judge_again(run, &catalogue.mechanisms);
    let line = |changed: &switchcost_analysis::Changed| {
        let variant = &run.variants[changed.variant];
        let reason = if changed.reason.is_empty() { String::new() } else { format!(": {}", harmless(&changed.reason)) };
        format!(
            "  {} ({}, {}): {} in the file, {} by its evidence{reason}",
            variant.mechanism,
            harmless(&variant.probe),
            variant.placement,
            changed.from,
            changed.to
        )
    };
    changed.iter().map(line).collect()
}
