//! Tables of typed cells.

use super::axis::{Axis, Picture};
use switchcost_analysis::Condition;
use switchcost_model::Value;

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tint {
    /// Worse.
    Red,
    /// Better.
    Green,
    /// Nobody can tell.
    Yellow,
}

/// What stands in a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// What a row is called.
    Name(String),
    /// A number, or a word that stands on one line.
    Value(Value),
    /// A conclusion.
    Verdict(String, Tint),
    /// What limits the row: words, or marks where these have no room.
    Limits(Vec<Condition>),
    /// A picture on the section's axis.
    Picture(Picture),
    /// Words at a row's end, which go on below it if there is no room.
    Words(String),
    /// The same, but they are left out.
    Aside(String),
}

impl<V: Into<Value>> From<V> for Cell {
    fn from(value: V) -> Self {
        Self::Value(value.into())
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// What stands above it.
    pub title: String,
    /// How soon it goes if there is no room: 0 never, the highest first.
    pub leaves: u8,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// What stands above it.
    pub title: String,
    /// Its columns, of which the first names the rows.
    pub columns: Vec<Column>,
    /// A cell for each column; one cell alone is the title of what follows, and none a blank line.
    pub rows: Vec<Vec<Cell>>,
    /// Of its pictures.
    pub axis: Option<Axis>,
    /// Columns without room follow below, beside the names; else they leave.
    pub goes_on: bool,
    /// What it shows, in sentences.
    pub below: Vec<String>,
}

impl Section {
    /// One without rows; of each column its title and how soon it goes.
    #[must_use]
    pub fn new<'t>(columns: impl IntoIterator<Item = (&'t str, u8)>) -> Self {
        let column = |(title, leaves): (&str, u8)| Column { title: title.to_owned(), leaves };
        Self { columns: columns.into_iter().map(column).collect(), ..Self::default() }
    }

    /// The same with these rows.
    #[must_use]
    pub fn with(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        self.rows.extend(rows);
        self
    }
}
