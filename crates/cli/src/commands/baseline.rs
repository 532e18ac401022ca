//! `baseline`: names of runs.

use crate::features::FEATURES;
use clap::{Args, Parser, Subcommand};
use std::time::Instant;
use switchcost_analysis::Analysis;
use switchcost_report::{BaselineEntry, baselines_json, baselines_text};
use switchcost_session::arguments::{ListFormat, StoreOption};
use switchcost_session::{Action, Exit, Failure, Installation, open_store, output, paths};
use switchcost_store::Store;

/// Name runs, for `compare baseline:NAME latest --gate 5%`
#[derive(Parser, Debug)]
#[command(name = "baseline")]
pub struct Baseline {
    /// What to do with names.
    #[command(subcommand)]
    pub action: BaselineAction,
}

/// What is done with names of runs.
#[derive(Subcommand, Debug)]
pub enum BaselineAction {
    /// Give a stored run a name
    Set(BaselineSet),
    /// Names and their runs
    List(BaselineList),
    /// Take a name away; the run stays
    Remove(BaselineRemove),
}

/// `baseline set`.
#[derive(Args, Debug)]
pub struct BaselineSet {
    /// Name: 1 to 64 letters, digits, hyphens, underscores and dots
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Run id, the beginning of one, `latest`, or `latest~N`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Take the name from the run that has it
    #[arg(long)]
    pub replace: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `baseline list`.
#[derive(Args, Debug)]
pub struct BaselineList {
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `baseline remove`.
#[derive(Args, Debug)]
pub struct BaselineRemove {
    /// Name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Baseline {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        match &self.action {
            BaselineAction::Set(arguments) => set(arguments)?,
            BaselineAction::List(arguments) => list(arguments)?,
            BaselineAction::Remove(arguments) => remove(arguments)?,
        }
        Ok(Exit::Fine)
    }
}

fn set(arguments: &BaselineSet) -> Result<(), Failure> {
    let path = paths::store(arguments.store.path())?;
    // Only to name a run of it is not a reason to make a store.
    Store::open_read_only(&path).map_err(Failure::usage)?;
    let mut store = open_store(Some(&path))?;
    let catalogue = Installation::find()?.catalogue()?;
    let named = store.load(&arguments.run).map_err(Failure::usage)?;
    let run = store
        .set_baseline(&arguments.name, &arguments.run, arguments.replace, switchcost_session::now_unix_ns())
        .map_err(Failure::usage)?;
    let doubts = Analysis::new(&named, &catalogue);
    FEATURES.iter().filter_map(|feature| (feature.doubts)(&doubts)).for_each(|doubt| output::say(&doubt));
    output::print(&format!("baseline {} is run {run}; compare with it as baseline:{0}\n", arguments.name))
}

fn list(arguments: &BaselineList) -> Result<(), Failure> {
    let store = Store::open_read_only(&paths::store(arguments.store.path())?).map_err(Failure::usage)?;
    let entries: Vec<BaselineEntry> = store
        .baselines()
        .map_err(Failure::usage)?
        .into_iter()
        .map(|baseline| BaselineEntry {
            name: baseline.name,
            run: baseline.run,
            set_unix_ns: baseline.set_unix_ns,
            gone: baseline.gone,
        })
        .collect();
    output::print(&match arguments.format {
        ListFormat::Table => baselines_text(&entries, output::style()),
        ListFormat::Json => baselines_json(&entries),
    })
}

fn remove(arguments: &BaselineRemove) -> Result<(), Failure> {
    let path = paths::store(arguments.store.path())?;
    Store::open_read_only(&path).map_err(Failure::usage)?;
    open_store(Some(&path))?.remove_baseline(&arguments.name).map_err(Failure::usage)?;
    output::print(&format!("baseline {} is removed; its run stays\n", arguments.name))
}
