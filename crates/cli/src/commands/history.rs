//! `history`: stored runs.

use crate::arguments::{self, ListFormat};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths;
use switchcost_report::{HistoryEntry, history_json, history_text};
use switchcost_store::Store;

/// Lists stored runs.
pub fn history(arguments: &arguments::History) -> Result<Exit, Failure> {
    let path = paths::store(arguments.store.store.as_deref())?;
    let headers = match Store::open_read_only(&path) {
        // Nobody has measured yet: an empty history, not a fault. A file named by hand must exist.
        Err(_) if arguments.store.store.is_none() && !path.exists() => Vec::new(),
        store => store.and_then(|store| store.list()).map_err(Failure::usage)?,
    };
    let entries: Vec<HistoryEntry> = headers
        .into_iter()
        .map(|header| HistoryEntry {
            partial: header.partial(),
            id: header.id,
            started_unix_ns: header.started_unix_ns,
            ended_by: header.ended_by.to_string(),
            rows: header.variants,
            invocations: header.invocations,
            command: header.command.iter().skip(1).map(String::as_str).collect::<Vec<_>>().join(" "),
        })
        .collect();
    output::print(&match arguments.format {
        ListFormat::Table => history_text(&entries, output::style()),
        ListFormat::Json => history_json(&entries),
    })?;
    Ok(Exit::Fine)
}
