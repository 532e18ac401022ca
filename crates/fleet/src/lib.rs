//! `fleet` and `check`: which nodes are unlike the others, and whether one node is still like its
//! baseline. What a node measures is data, `data/fleet.toml`.

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

use switchcost_session::{Command, Feature, Group};

/// The feature.
pub const FEATURE: Feature = Feature {
    commands: &[
        Command {
            refusal: check::status_of_refusal,
            ..Command::of::<check::Check>(Group::Operate, "check --baseline golden.jsonl --contract nhc", &[])
                .answering("is this node fit?", "check")
        },
        Command::of::<arguments::Fleet>(Group::Operate, "fleet judge FOLDER", &[1, 4])
            .answering("which of my nodes is odd?", "fleet judge FOLDER"),
    ],
    schemas: &[("fleet.schema.json", answer::fleet_schema)],
    doubts: check::doubts,
};
