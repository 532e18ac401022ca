//! `history`.

use super::{ListFormat, StoreOption};
use clap::Args;
use std::time::{Duration, SystemTime};

/// `history`.
#[derive(Args, Debug)]
pub struct History {
    /// Show the trend of each row that this names, such as thread/pipe, 'stack/*' or 'thread/pipe free', and where it changed
    #[arg(value_name = "PATTERN")]
    pub pattern: Option<String>,
    /// Runs of which machine: this, all (a block for each), or the beginning of a key of hardware [default: this for trends, all for the list]
    #[arg(long, value_name = "KEY")]
    pub machine: Option<String>,
    /// Only runs since then: a date such as 2026-11-20, or a time back from now such as 30d
    #[arg(long, value_name = "WHEN", value_parser = parse_since)]
    pub since: Option<SystemTime>,
    /// Only the latest N runs [default: 200 for trends]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub last: Option<u64>,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

fn parse_since(text: &str) -> Result<SystemTime, String> {
    let back = |span: Duration| SystemTime::now().checked_sub(span);
    let date =
        humantime::parse_rfc3339_weak(text).or_else(|_| humantime::parse_rfc3339_weak(&format!("{text} 00:00:00")));
    date.ok()
        .or_else(|| humantime::parse_duration(text).ok().and_then(back))
        .ok_or_else(|| "it is a date such as 2026-11-20, or a time back from now such as 30d".to_owned())
}
