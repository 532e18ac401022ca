//! `check`.

use clap::{Parser, ValueEnum};
use std::time::Duration;
use switchcost_session::arguments::{StoreOption, bounded_time, parse_difference};

/// Ends the help of `check`, whose statuses are those of the programs that run it.
const HELP: &str = "Exit status:
  contract  fit  not fit  inconclusive
  plain      0      1          2
  nagios     0      2          3        OK, CRITICAL, UNKNOWN
  npd        0      1          2        OK, NonOK, Unknown
  nhc        0      1          0        nothing is drained for what is not known
  slurm      0      1          0        nor here
  A flag that cannot be used is `inconclusive`, but ends with 2 under nhc and slurm.

The line has at most 80 bytes with its end. What cannot be read, measured or judged in time is `inconclusive`, with the step that was late.";

/// Is this node fit, like its baseline? One line within 5 s
///
/// For schedulers and CI. Compares the machine's facts with those of a baseline, then some of its
/// rows, cheapest of each family first, measured in turns and judged as `compare --gate` does. What
/// fails is measured again before it counts. Without a baseline only what makes any node unfit is
/// looked for. Nothing is stored.
///
/// switchcost run control thread process && switchcost baseline set check what this node is like
/// while it is well switchcost check and whether it still is switchcost check --baseline
/// golden.jsonl --contract nhc against a file that all nodes share
#[derive(Parser, Debug, Clone)]
#[command(name = "check", after_help = HELP, verbatim_doc_comment)]
pub struct Check {
    /// What to compare this node with: the name of a baseline, or a run file by `export` [default:
    /// the baseline `check`]
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

/// What a refusal of these words ends with, where whoever asks takes the usual status for an
/// answer: Nagios' 2 is CRITICAL.
pub fn status_of_refusal(words: &[String]) -> Option<i32> {
    const UNKNOWN: i32 = 3;
    let nagios = |pair: &[String]| pair[0] == "--contract" && pair[1] == "nagios";
    let asked = words.iter().any(|word| word == "--contract=nagios") || words.windows(2).any(nagios);
    (words.get(1).is_some_and(|word| word == "check") && asked).then_some(UNKNOWN)
}

fn parse_within(text: &str) -> Result<Duration, String> {
    bounded_time(text, Duration::from_secs(1), Duration::from_secs(60))
}
