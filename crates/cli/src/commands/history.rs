//! `history`: stored runs, and the trend of a row over them.

mod list;
mod trend;

use crate::arguments;
use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;
use switchcost_model::harmless;
use switchcost_session::{Exit, Failure, output, paths};
use switchcost_store::{RunHeader, Store};

/// Lists stored runs, or shows trends.
pub fn history(arguments: &arguments::History) -> Result<Exit, Failure> {
    let path = paths::store(arguments.store.store.as_deref())?;
    let text = match Store::open_read_only(&path) {
        // Nobody has measured yet: an empty history, not a fault. A file named by hand must exist.
        Err(_) if arguments.store.store.is_none() && !path.exists() => list::list(Vec::new(), arguments.format),
        Err(error) => return Err(Failure::usage(error)),
        Ok(store) => {
            let headers = chosen(&store, arguments)?;
            match &arguments.pattern {
                None => list::list(headers, arguments.format),
                Some(pattern) => trend::trend(&store, headers, pattern, arguments.format)?,
            }
        }
    };
    output::print(&text)?;
    Ok(Exit::Fine)
}

/// The runs that the options leave, newest first.
fn chosen(store: &Store, arguments: &arguments::History) -> Result<Vec<RunHeader>, Failure> {
    let mut headers = store.list().map_err(Failure::usage)?;
    let default = if arguments.pattern.is_some() { "this" } else { "all" };
    of_machine(&mut headers, arguments.machine.as_deref().unwrap_or(default))?;
    if let Some(since) = arguments.since {
        let since =
            since.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
        headers.retain(|header| header.started_unix_ns >= since);
    }
    let default = arguments.pattern.as_ref().map_or(usize::MAX, |_| trend::MOST_RUNS);
    headers.truncate(arguments.last.map_or(default, |last| last as usize));
    Ok(headers)
}

fn of_machine(headers: &mut Vec<RunHeader>, wanted: &str) -> Result<(), Failure> {
    if wanted == "all" || headers.is_empty() {
        return Ok(());
    }
    let mut known: BTreeMap<String, Vec<&RunHeader>> = BTreeMap::new();
    for header in headers.iter() {
        known.entry(header.hardware_key()).or_default().push(header);
    }
    let this = || switchcost_model::hardware_key(&switchcost_machine::fingerprint().stable);
    let wanted = if wanted == "this" { this() } else { wanted.to_owned() };
    let fitting: Vec<&String> = known.keys().filter(|key| key.starts_with(&wanted)).collect();
    let [fitting] = fitting[..] else {
        let known: Vec<String> =
            known.iter().map(|(key, runs)| format!("{key} ({}; {} runs)", name(runs[0]), runs.len())).collect();
        let what = if fitting.is_empty() { "no run is of machine" } else { "several machines begin with" };
        return Err(Failure::usage(format!(
            "{what} {wanted}; the store knows {}: name one by --machine, or take --machine all",
            known.join(", ")
        )));
    };
    let fitting = fitting.clone();
    headers.retain(|header| header.hardware_key() == *fitting);
    Ok(())
}

/// Processor, number of CPUs, hypervisor.
fn name(header: &RunHeader) -> String {
    let words = [header.fact("cpu.model_name"), header.fact("cpu.logical"), header.fact("hypervisor")].map(harmless);
    format!("{}, {} CPUs, {}", words[0], words[1], words[2])
}
