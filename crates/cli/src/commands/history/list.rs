//! Stored runs, newest first.

use switchcost_model::harmless;
use switchcost_report::{HistoryEntry, history_json, history_text};
use switchcost_session::arguments::ListFormat;
use switchcost_session::output;
use switchcost_store::RunHeader;

/// Runs that people see unless they ask for more.
const SHOWN: usize = 20;

/// The list; of the table the newest runs, if the user did not say how many.
pub fn list(headers: Vec<RunHeader>, format: ListFormat, last: Option<u64>) -> String {
    let mut entries: Vec<HistoryEntry> = headers
        .into_iter()
        .map(|header| HistoryEntry {
            partial: header.partial(),
            imported: header.imported,
            machine: header.machine.id(),
            software: header.software_key(),
            kernel: header.fact("kernel.release").to_owned(),
            id: header.id,
            started_unix_ns: header.started_unix_ns,
            ended_by: header.ended_by.to_string(),
            rows: header.variants,
            invocations: header.invocations,
            command: header.command.iter().skip(1).map(String::as_str).collect::<Vec<_>>().join(" "),
        })
        .collect();
    match format {
        ListFormat::Table => {
            let older = if last.is_some() { 0 } else { entries.len().saturating_sub(SHOWN) };
            entries.truncate(entries.len() - older);
            history_text(&entries, older, output::style())
        }
        ListFormat::Json => history_json(&entries),
    }
}

/// Of a run's machine: processor, number of CPUs, hypervisor.
pub fn name(header: &RunHeader) -> String {
    let words = [header.fact("cpu.model_name"), header.fact("cpu.logical"), header.fact("hypervisor")].map(harmless);
    format!("{}, {} CPUs, {}", words[0], words[1], words[2])
}
