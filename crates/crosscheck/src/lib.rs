//! `crosscheck`: other tools beside ours, in turns, in the same unit. Tools are data, `data/crosscheck/*.toml`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod arguments;
mod beside;
mod command;
mod peers;
mod start;
mod text;

use clap::CommandFactory as _;
use switchcost_session::Feature;
use switchcost_session::feature::{Command, typed};

/// The feature.
pub const FEATURE: Feature = Feature {
    commands: &[Command {
        define: arguments::Crosscheck::command,
        run: |matches, started| command::crosscheck(&typed(matches)?, started),
        ..Command::USUAL
    }],
    schemas: &[("crosscheck.schema.json", text::crosscheck_schema)],
    page: "data/crosscheck/README.md",
};
