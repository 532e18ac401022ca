//! Runs in, bytes out. No I/O, no clock: the same run gives the same bytes.

mod compare;
mod csv;
mod json;
mod ladder;
mod listing;
mod number;
mod rows;
mod text;

pub use compare::{Compared, ComparedRow, ComparedSide, compare_json, compare_markdown, compare_text};
pub use csv::csv;
pub use json::{json, schema};
pub use ladder::{ladder_markdown, ladder_text};
pub use listing::{
    HistoryEntry, ListedMechanism, ListedParameter, ListedProbe, findings_text, history_json, history_text, list_json,
    list_text, machine_json,
};
pub use number::{nanoseconds, percent};
pub use rows::{Line, all_lines, label, lines, warnings};
pub use text::Style;
