//! Options of a `compare` that measures.

use super::{parse_budget, parse_word};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use switchcost_model::Placement;

/// How `compare` measures.
#[derive(Args, Debug)]
pub struct Measure {
    /// Measure the operands now, side by side in one run, and judge that; they are mechanisms with further words, such as
    /// 'thread/pipe free' or 'stack/fcontext fpu_state=differ'. The same one twice is an A/A test
    #[arg(long, conflicts_with = "run")]
    pub measure: bool,
    /// Folder of a probe, with its probe.toml: given twice, the first is A's build and the second B's, and the operands are what both measure. Their
    /// rows are called after the probe's id with .a and .b
    #[arg(long, value_name = "FOLDER", requires = "measure")]
    pub probe: Vec<PathBuf>,
    /// Placement of operands that name none [default: the mechanism's first]
    #[arg(long, value_name = "P", requires = "measure", value_parser = parse_word::<Placement>)]
    pub placement: Option<Placement>,
    /// Rounds: starts of each side [default: 20]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u64).range(6..=100_000))]
    pub rounds: Option<u64>,
    /// Time limit for measuring [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// Seed of the random order of measurements [default: random, stored with the run]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Wait until no other switchcost measures on the CPU; the budget begins then
    #[arg(long, requires = "measure")]
    pub wait: bool,
}

impl Measure {
    /// An option that only measuring obeys.
    pub fn given(&self) -> Option<&'static str> {
        let given =
            [("--rounds", self.rounds.is_some()), ("--budget", self.budget.is_some()), ("--seed", self.seed.is_some())];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}
