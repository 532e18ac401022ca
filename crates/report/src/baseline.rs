//! `baseline list`.

use crate::answer::{Cell, Section};
use crate::text::{Style, moment};
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
    let row = |entry: &BaselineEntry| {
        let run = if entry.gone { format!("{} (gone)", entry.run) } else { entry.run.clone() };
        vec![Cell::Name(entry.name.clone()), run.into(), moment(entry.set_unix_ns).into()]
    };
    let table = Section::new([("baseline", 0), ("run", 0), ("set", 1)]).with(entries.iter().map(row));
    style.sealed(&table.terminal(style))
}
