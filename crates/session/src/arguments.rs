//! Options and values that several commands have.

use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where runs are stored.
#[derive(Args, Debug, Clone)]
pub struct StoreOption {
    /// Database of runs [default: $XDG_DATA_HOME/switchcost/runs.sqlite]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

impl StoreOption {
    /// What was given.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.store.as_deref()
    }
}

/// How each command measures that does.
#[derive(Args, Debug, Clone, Default)]
pub struct Measuring {
    /// Seed of the random order [default: random]
    ///
    /// It is stored with the run.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Continue the newest run of this command
    ///
    /// It must have stopped early; nothing is measured twice.
    #[arg(long)]
    pub resume: bool,
    /// Wait until no other switchcost measures here
    ///
    /// The budget begins then.
    #[arg(long)]
    pub wait: bool,
}

/// Output formats.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// For people
    Table,
    /// For scripts
    Json,
}

/// A word of the model, such as a placement.
///
/// # Errors
/// What it should be, as a clause.
pub fn parse_word<T: std::str::FromStr<Err = switchcost_model::IdError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: switchcost_model::IdError| error.0)
}

/// A time limit for measuring.
///
/// # Errors
/// What it should be, as a clause.
pub fn parse_budget(text: &str) -> Result<Duration, String> {
    bounded_time(text, Duration::from_millis(100), Duration::from_secs(86_400))
}

/// A time with its unit, within bounds.
///
/// # Errors
/// What it should be, as a clause.
pub fn bounded_time(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if (least..=most).contains(&time) => Ok(time),
        Ok(_) | Err(humantime::DurationError::NumberOverflow) => {
            let [least, most] = [least, most].map(humantime::format_duration);
            Err(format!("it lies between {least} and {most}"))
        }
        Err(_) => Err("it is a time with a unit, such as 20s, 2m or 500ms".to_owned()),
    }
}

/// A difference of costs, in percent.
///
/// # Errors
/// What it should be, as a clause.
pub fn parse_difference(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.strip_suffix('%').unwrap_or(text).trim().parse();
    match number {
        Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("it is a percentage from 0% to 1000%".into()),
    }
}
