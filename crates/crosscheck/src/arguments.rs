//! `crosscheck`.

use clap::Parser;
use switchcost_session::arguments::ListFormat;

/// Run installed tools (perf bench, stress-ng, ...) beside ours
///
/// Each is started in turns with ours, on one CPU.
#[derive(Parser, Debug)]
#[command(name = "crosscheck")]
pub struct Crosscheck {
    /// Globs over the tools' names, such as 'perf-*' [default: all]
    #[arg(value_name = "TOOL")]
    pub tools: Vec<String>,
    /// Rounds; in each every tool and every mechanism of ours is started once
    #[arg(long, value_name = "R", default_value_t = 6, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub rounds: u64,
    /// Seed of the random order [default: random]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
}
