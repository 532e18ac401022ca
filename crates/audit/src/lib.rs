//! `audit`: what the switches of a running program cost it. They are counted without tracing, and priced by measurements of this machine; which
//! measurement stands for which switch is data, `data/audit.toml`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod arguments;
mod command;
mod cost;
mod data;
mod rule;
mod text;

use clap::CommandFactory as _;
use switchcost_session::Feature;
use switchcost_session::feature::{Command, typed};

/// The feature.
pub const FEATURE: Feature = Feature {
    commands: &[Command {
        question: Some(("what does my program lose?", "audit --pid PID --for 10s")),
        define: arguments::Audit::command,
        run: |matches, _| command::audit(&typed(matches)?),
        ..Command::USUAL
    }],
    schemas: &[],
    page: "docs/audit.md",
};
