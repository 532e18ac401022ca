//! `audit`: what the switches of a running program cost it. They are counted without tracing, and
//! priced by measurements of this machine; which measurement stands for which switch is data,
//! `data/audit.toml`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod arguments;
mod command;
mod cost;
mod data;
mod json;
mod names;
mod rule;
mod text;
mod wakeups;

pub use cost::{Estimate, Price, audit};
pub use data::load_audit;
pub use text::{Audited, audit_text};

use switchcost_session::{Command, Feature, Group};

/// The feature.
pub const FEATURE: Feature = Feature {
    commands: &[Command::of::<arguments::Audit>(Group::Operate, "audit --children -- make -j2", &[3, 4])
        .answering("what does my program lose?", "audit --pid PID --for 10s")],
    schemas: &[],
    doubts: |_| None,
};
