//! `classic`: the programs of five write-ups, what each prints of a row beside our figure. Programs
//! are data, `classic/*.toml`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod arguments;
mod command;
mod programs;
mod text;

use switchcost_session::{Command, Feature, Group};

/// The feature.
pub const FEATURE: Feature = Feature {
    commands: &[Command::of::<arguments::Classic>(Group::Compare, "classic testFiber 50 1000000", &[])],
    schemas: &[],
    doubts: |_| None,
};
