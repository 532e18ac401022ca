//! What a command has to say, as data. One printer each writes it: [`terminal`](Answer::terminal),
//! [`markdown`](Answer::markdown).

mod axis;
mod cell;
mod grid;
mod headline;
mod print;

pub use axis::{Axis, Picture};
pub use cell::{Cell, Column, Section, Tint};
pub use headline::Headline;

/// All that one command has to say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// What was asked.
    pub headline: Headline,
    /// What it is about: a lead such as `A`, and a line.
    pub about: Vec<(&'static str, String)>,
    /// Tables.
    pub sections: Vec<Section>,
    /// What a reader must know, most important first.
    pub remarks: Vec<String>,
    /// The last line, which says what a gate made of it.
    pub outcome: Option<String>,
}
