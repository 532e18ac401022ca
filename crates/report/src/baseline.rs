//! `baseline list`.

use crate::text::{Style, cell, drawn, moment, name};
use serde::Serialize;

/// A named run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BaselineEntry {
    /// Name.
    pub name: String,
    /// Id of the run.
    pub run: String,
    /// When it was named, ns since 1970 UTC.
    pub set_unix_ns: i64,
    /// The run is no longer stored.
    pub gone: bool,
}

/// `baseline list --format json`.
#[must_use]
pub fn baselines_json(entries: &[BaselineEntry]) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        format: u32,
        baselines: &'a [BaselineEntry],
    }
    crate::text::json(&Document { format: 1, baselines: entries })
}

/// `baseline list` for a terminal, by name.
#[must_use]
pub fn baselines_text(entries: &[BaselineEntry], style: Style) -> String {
    if entries.is_empty() {
        return "No run has a name yet; `switchcost baseline set NAME` names the latest.\n".into();
    }
    let mut table = style.table();
    table.set_header(["baseline", "run", "set"].map(cell));
    for entry in entries {
        let run = if entry.gone { format!("{} (gone)", entry.run) } else { entry.run.clone() };
        table.add_row([cell(name(&entry.name)), cell(run), cell(moment(entry.set_unix_ns))]);
    }
    style.sealed(&drawn(&mut table))
}
