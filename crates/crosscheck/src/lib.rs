//! `crosscheck`: other tools beside ours, in turns, in the same unit. Tools are data,
//! `data/crosscheck/*.toml`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod arguments;
mod beside;
mod command;
mod latencies;
mod peers;
mod start;
mod text;

use switchcost_session::{Command, Feature, Group};

/// The feature.
pub const FEATURE: Feature = Feature {
    commands: &[Command::of::<arguments::Crosscheck>(Group::Compare, "crosscheck", &[3, 4])],
    schemas: &[("crosscheck.schema.json", text::crosscheck_schema)],
    doubts: |_| None,
};
