//! `classic`: the programs of five write-ups, what each prints of a row beside our figure. Programs are data, `classic/*.toml`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod arguments;
mod command;
mod programs;
mod text;

use clap::CommandFactory as _;
use switchcost_session::Feature;
use switchcost_session::feature::{Command, typed};

/// The feature.
pub const FEATURE: Feature = Feature {
    commands: &[Command {
        define: arguments::Classic::command,
        run: |matches, started| command::classic(&typed(matches)?, started),
        ..Command::USUAL
    }],
    schemas: &[],
    page: "classic/README.md",
};
