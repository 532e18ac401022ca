//! `check`.

use super::{StoreOption, bounded_time, parse_difference};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `check`.
#[derive(Args, Debug, Clone)]
pub struct Check {
    /// What this node is held against: the name of a baseline, or a run file by `export` [default: the baseline `check`]
    #[arg(long, value_name = "NAME|FILE")]
    pub baseline: Option<String>,
    /// The answer is there within this time, whatever happens
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_within)]
    pub within: Duration,
    /// Whose words and exit statuses the answer has
    #[arg(long, value_name = "C", default_value = "plain")]
    pub contract: Contract,
    /// Increase of a row that makes the node unfit
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = parse_difference)]
    pub gate: f64,
    /// Everything that was found, on standard error
    #[arg(short, long)]
    pub verbose: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Check {
    /// `--store`.
    pub fn store(&self) -> Option<&PathBuf> {
        self.store.store.as_ref()
    }
}

/// Who asks.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contract {
    /// People and scripts
    Plain,
    /// Nagios, Icinga and what runs their plug-ins
    Nagios,
    /// Kubernetes' node-problem-detector
    Npd,
    /// LBNL Node Health Check
    Nhc,
    /// Slurm's HealthCheckProgram and Prolog
    Slurm,
}

/// What a refusal of these words ends with, where whoever asks takes the usual status for an answer: Nagios' 2 is CRITICAL.
pub fn status_of_refusal(words: &[String]) -> Option<i32> {
    const UNKNOWN: i32 = 3;
    let nagios = |pair: &[String]| pair[0] == "--contract" && pair[1] == "nagios";
    let asked = words.iter().any(|word| word == "--contract=nagios") || words.windows(2).any(nagios);
    (words.get(1).is_some_and(|word| word == "check") && asked).then_some(UNKNOWN)
}

fn parse_within(text: &str) -> Result<Duration, String> {
    bounded_time(text, Duration::from_secs(1), Duration::from_secs(60))
}
