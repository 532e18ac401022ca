//! From a request to a run: which variants, in which order, by which probe, within which time.
//!
//! Nothing is measured here: the host starts probes, waits in `poll` and keeps what they say.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod conform;
mod discover;
mod experiments;
mod invoke;
mod needed;
mod no_answer;
mod progress;
mod request;
mod schedule;
mod select;
mod sweep;

pub use conform::{
    Breach, CheckProbe, Conformance, TranscriptFault, TranscriptKind, Uncheckable, check_probe, check_transcript,
};
pub use discover::{KnownProbe, discover};
pub use needed::{check, discover_for, impossible, needed};
pub use no_answer::NoAnswer;
pub use request::RequestError;
pub use schedule::{Control, Observer, execute, resume};
pub use select::{Selection, Sizes, choices, not_installed, select, select_wanted};
pub use sweep::{AXES, AnyAxis, Axis, Here, Range, SweepError, axis_of, headline_with, listed_axis, select_sweep};

/// Version of the method (METHODOLOGY.md). Raised when equal raw data would give other figures, or
/// equal machines other raw data.
pub const METHOD_VERSION: u32 = 1;
