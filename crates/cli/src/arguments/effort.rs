//! What `run` and `sweep` share: the variants beside their axis, and how much is measured.

use super::{parse_parameter, parse_precision};
use clap::Args;

/// What and how much is measured.
#[derive(Args, Debug)]
pub struct Effort {
    /// Parameter of a mechanism, such as fpu_state=differ; several values make several rows or curves
    #[arg(long = "param", value_name = "NAME=V,...", value_parser = parse_parameter)]
    pub parameters: Vec<(String, Vec<String>)>,
    /// Exactly this many rounds (starts of each probe) [default: 10 to 40, as precision needs]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub rounds: Option<u64>,
    /// A first look in a sixth of the time: --precision 10% --batches 10 and a small --budget, where they are not given. Rows too slow for six
    /// starts are named, with the command that measures them by themselves
    #[arg(long)]
    pub quick: bool,
    /// Half-width of the 95 % interval to aim at
    #[arg(long, value_name = "PERCENT", default_value = "2%", default_value_if("quick", "true", "10%"), value_parser = parse_precision)]
    pub precision: f64,
    /// Seed of the random order of measurements [default: random, stored with the run]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Probes by id or source, such as gcc-12,go [default: the best one of each mechanism]
    #[arg(long, value_name = "P,...", value_delimiter = ',')]
    pub probe: Vec<String>,
    /// Batches measured in each start of a probe
    #[arg(long, value_name = "B", default_value = "30", default_value_if("quick", "true", "10"), value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub batches: u64,
    /// Wait until no other switchcost measures on the CPU; the budget begins then
    #[arg(long)]
    pub wait: bool,
}
