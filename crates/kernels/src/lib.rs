//! `kernels`: what kernels do in one switch. Each is booted in an emulator that counts
//! instructions; the static native probe runs in it. Which rows, and which function belongs to
//! which part of a kernel, is data, `data/kernels.toml`.
//!
//! `image`: files of kernels, and what the virtual machine starts with. `serial`: what it says.
//! `boot`: the emulator. `counts`: numbers of instructions and their modes. `functions`: the same
//! by function, and that file. `command`: all of it. `answer`: what is printed; `passage`: the
//! gate.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod answer;
mod arguments;
mod boot;
mod command;
mod counts;
mod functions;
mod image;
mod passage;
mod serial;

use switchcost_session::{Command, Feature, Group};

/// The feature.
pub const FEATURE: Feature = Feature {
    commands: &[Command {
        refusal: passage::status_of_refusal,
        ..Command::of::<arguments::Kernels>(Group::Compare, "kernels thread/futex --depth 0,3", &[1, 3, 4, 5])
    }],
    schemas: &[("kernels.schema.json", || switchcost_report::text::json(&schemars::schema_for!(answer::Answered)))],
    doubts: |_| None,
};
