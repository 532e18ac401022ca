//! One file a command.

mod compare;
mod doctor;
mod export;
mod generate;
mod history;
mod import;
mod list;
mod run;
mod show;

use crate::arguments::{Arguments, Command, Format};
use crate::exit::{Exit, Failure};
use crate::output::style;
use std::time::Instant;
use switchcost_catalogue::Catalogue;
use switchcost_model::Run;

/// Carries out what was typed.
pub fn dispatch(arguments: Arguments, started: Instant) -> Result<Exit, Failure> {
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments, started),
        Command::List(arguments) => list::list(&arguments),
        Command::Show(arguments) => show::show(&arguments),
        Command::History(arguments) => history::history(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::Generate { folder } => generate::generate(&folder),
    }
}

/// A run in any of the forms of `--format`.
fn formatted(run: &Run, catalogue: &Catalogue, format: Format) -> Result<String, Failure> {
    Ok(match format {
        Format::Table => switchcost_report::ladder_text(run, catalogue, style()),
        Format::Json => switchcost_report::json(run, catalogue),
        Format::Csv => switchcost_report::csv(run, catalogue),
        Format::Md => switchcost_report::ladder_markdown(run, catalogue),
        Format::Jsonl => {
            let mut bytes = Vec::new();
            switchcost_store::export_jsonl(run, &mut bytes).map_err(Failure::internal)?;
            String::from_utf8(bytes).map_err(Failure::internal)?
        }
    })
}
