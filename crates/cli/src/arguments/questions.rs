//! Commands that ask what a cost is made of, and what it means for a program.

use super::{ListFormat, StoreOption};
use clap::Args;
use std::time::Duration;
use switchcost_catalogue::grammar;
use switchcost_model::Placement;

/// `explain`.
#[derive(Args, Debug)]
pub struct Explain {
    /// Mechanism, such as thread/pipe [default: list what can be explained]
    pub mechanism: Option<String>,
    /// With the measured rows that each layer is the difference of
    #[arg(short, long)]
    pub verbose: bool,
    /// Placement of the row to explain [default: the mechanism's usual row]
    #[arg(long, value_name = "P", value_parser = super::parse_word::<Placement>)]
    pub placement: Option<Placement>,
    /// Parameter of the row to explain
    #[arg(long = "param", value_name = "NAME=V", value_parser = super::parse_parameter)]
    pub parameters: Vec<(String, Vec<String>)>,
    /// Time limit for measuring
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = super::parse_budget)]
    pub budget: Duration,
    /// Exactly this many rounds [default: 10 to 40, as precision needs]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub rounds: Option<u64>,
    /// Take the newest stored run that holds all of it, and measure nothing
    #[arg(long)]
    pub stored: bool,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `budget`.
#[derive(Args, Debug)]
pub struct Budget {
    /// Switches a second, such as 200k/s
    #[arg(long, value_name = "N/s", value_parser = parse_rate)]
    pub rate: f64,
    /// Contexts alive at once, such as 10k
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub contexts: u64,
    /// Memory that a context touches between two switches, such as 16K
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub working_set: Option<u64>,
    /// Also show the 99th percentile of uncontended consecutive switches, beside the one wished for, such as 50us; it decides nothing
    #[arg(long, value_name = "TIME", value_parser = parse_latency)]
    pub latency_p99: Option<Duration>,
    /// Largest share of a CPU that switching may take
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = super::parse_precision)]
    pub cpu: f64,
    /// First measure all that is missing, and say how long that takes
    #[arg(long)]
    pub measure: bool,
    /// Time limit for measuring [default: three times what it should take, at least 60s]
    #[arg(long, value_name = "TIME", value_parser = super::parse_budget)]
    pub budget: Option<Duration>,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = grammar::scaled(text.strip_suffix("/s").unwrap_or(text), 1000.0);
    rate.filter(|rate| (0.001..=1e10).contains(rate))
        .ok_or_else(|| "it is a number of switches per second, such as 500/s, 200k/s or 1.5M/s".into())
}

fn parse_count(text: &str) -> Result<u64, String> {
    let count = grammar::count(text).filter(|count| (2..=100_000_000).contains(count));
    count.ok_or_else(|| "it is a number from 2 to 100M, such as 500 or 10k".into())
}

fn parse_size(text: &str) -> Result<u64, String> {
    let size = grammar::size(text).filter(|size| (1..=1_000_000_000_000).contains(size));
    size.ok_or_else(|| "it is a number of bytes, such as 4096, 16K or 1M".into())
}

fn parse_latency(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| "it is a time with a unit, such as 50us or 2ms".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        assert_eq!(["500/s", "200k/s", "1.5M"].map(parse_rate), [Ok(500.0), Ok(200_000.0), Ok(1_500_000.0)]);
        assert_eq!((parse_count("10k"), parse_size("16K"), parse_size("1MiB")), (Ok(10_000), Ok(16_384), Ok(1 << 20)));
        for wrong in ["", "k", "-1", "nan", "inf", "1e99", "1,5"] {
            assert!(parse_rate(wrong).is_err() && parse_count(wrong).is_err() && parse_size(wrong).is_err(), "{wrong}");
        }
        assert!(parse_count("1").is_err() && parse_count("2.5").is_err() && parse_latency("50").is_err());
    }
}
