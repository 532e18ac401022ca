//! `baseline`: names of runs.

use crate::arguments::{BaselineAction, BaselineList, BaselineRemove, BaselineSet, ListFormat};
use std::time::SystemTime;
use switchcost_report::{BaselineEntry, baselines_json, baselines_text};
use switchcost_session::{Exit, Failure, output, paths};
use switchcost_store::Store;

/// Sets, lists or removes names.
pub fn baseline(action: &BaselineAction) -> Result<Exit, Failure> {
    match action {
        BaselineAction::Set(arguments) => set(arguments)?,
        BaselineAction::List(arguments) => list(arguments)?,
        BaselineAction::Remove(arguments) => remove(arguments)?,
    }
    Ok(Exit::Fine)
}

fn set(arguments: &BaselineSet) -> Result<(), Failure> {
    let path = paths::store(arguments.store.store.as_deref())?;
    // Only to name a run of it is not a reason to make a store.
    Store::open_read_only(&path).map_err(Failure::usage)?;
    let mut store = Store::open(&path).map_err(Failure::usage)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let run = store
        .set_baseline(&arguments.name, &arguments.run, arguments.replace, i64::try_from(now).unwrap_or(i64::MAX))
        .map_err(Failure::usage)?;
    output::print(&format!("baseline {} is run {run}; compare with it as baseline:{0}\n", arguments.name))
}

fn list(arguments: &BaselineList) -> Result<(), Failure> {
    let store = Store::open_read_only(&paths::store(arguments.store.store.as_deref())?).map_err(Failure::usage)?;
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
    let path = paths::store(arguments.store.store.as_deref())?;
    Store::open_read_only(&path).map_err(Failure::usage)?;
    Store::open(&path).and_then(|mut store| store.remove_baseline(&arguments.name)).map_err(Failure::usage)?;
    output::print(&format!("baseline {} is removed; its run stays\n", arguments.name))
}
