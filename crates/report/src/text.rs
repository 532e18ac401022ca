//! Tables for terminals.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

/// How a terminal wants its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Escape sequences for colour are understood and wanted.
    pub colour: bool,
    /// Columns; None: do not wrap.
    pub width: Option<u16>,
}

impl Style {
    /// Neither colour nor wrapping: files and pipes.
    pub const PLAIN: Self = Self { colour: false, width: None };

    pub(crate) fn bold(self, text: &str) -> String {
        if self.colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A table without lines: columns speak for themselves, and such text can be cut and pasted.
    pub(crate) fn table(self) -> Table {
        let mut table = Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        match self.width {
            Some(width) => {
                table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            }
            None => {
                table.set_content_arrangement(ContentArrangement::Disabled);
            }
        }
        table
    }
}

/// A moment to the second, UTC.
pub(crate) fn moment(unix_ns: i64) -> String {
    let moment = jiff::Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default();
    moment.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

pub(crate) fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Removes the blanks that padding leaves at line ends.
pub(crate) fn trimmed(table: &Table) -> String {
    let mut out = String::new();
    for line in table.to_string().lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
