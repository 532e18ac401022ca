//! `fleet` and `check`: which nodes are unlike the others, and whether one node is still like its baseline. What a node measures is data,
//! `data/fleet.toml`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod answer;
mod arguments;
mod check;
mod command;
mod data;
mod fitness;
mod nodes;
mod passage;

pub use data::{FleetPlan, FleetRow, fleet_plan};
pub use nodes::{
    Centre, CommonChange, FactDifference, FactSplit, GroupSeen, KindsSeen, NodeFigures, NodeFinding, NodeRun,
    NodeSample, NodeStarts, NodeVerdict, RowSeen, Suspect, Timed, What, judge_fleet,
};
pub use passage::Passage;

use clap::CommandFactory as _;
use switchcost_session::Feature;
use switchcost_session::feature::{Command, typed};

/// The feature.
pub const FEATURE: Feature = Feature {
    commands: &[
        Command {
            question: Some(("which of my nodes is odd?", "fleet judge FOLDER")),
            define: arguments::Fleet::command,
            run: |matches, _| command::fleet(&typed::<arguments::Fleet>(matches)?.action),
            ..Command::USUAL
        },
        Command {
            question: Some(("is this node fit?", "check")),
            define: check::Check::command,
            run: |matches, started| check::check(&typed(matches)?, started),
            refusal: check::status_of_refusal,
        },
    ],
    schemas: &[("fleet.schema.json", answer::fleet_schema)],
    page: "docs/fleet.md",
};
