//! From transcripts to verdicts and rows. Pure: the same run gives the same rows.

mod compare;
mod judge;
mod series;
mod summary;

pub use compare::{Comparison, DEFAULT_FLOOR, Noise, Outcome, Rules, between, noise, usable, within};
pub use judge::{Ruling, judge};
pub use series::{Series, series};
pub use summary::{Each, Figures, KernelRate, Row, Summary, ladder, precise_enough, summarise};
