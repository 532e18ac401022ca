//! `fleet`: one measurement per node, and the nodes that are unlike the others.

mod confirm;
mod files;
mod judge;
mod nodes;
mod plan;

use crate::arguments::{Fleet, FleetAction};
use std::time::Instant;
use switchcost_session::{Action, Exit, Failure};

impl Action for Fleet {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        match &self.action {
            FleetAction::Plan(arguments) => plan::plan(arguments),
            FleetAction::Judge(arguments) => judge::judge(arguments),
        }
    }
}
