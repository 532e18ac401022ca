//! `baseline`.

use super::{ListFormat, StoreOption};
use clap::{Args, Subcommand};

/// `baseline`.
#[derive(Args, Debug)]
pub struct Baseline {
    /// What to do with names.
    #[command(subcommand)]
    pub action: BaselineAction,
}

/// What is done with names of runs.
#[derive(Subcommand, Debug)]
pub enum BaselineAction {
    /// Give a stored run a name
    Set(BaselineSet),
    /// Names and their runs
    List(BaselineList),
    /// Take a name away; the run stays
    Remove(BaselineRemove),
}

/// `baseline set`.
#[derive(Args, Debug)]
pub struct BaselineSet {
    /// Name: 1 to 64 letters, digits, hyphens, underscores and dots
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Run id, the beginning of one, `latest`, or `latest~N`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Take the name from the run that has it
    #[arg(long)]
    pub replace: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `baseline list`.
#[derive(Args, Debug)]
pub struct BaselineList {
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `baseline remove`.
#[derive(Args, Debug)]
pub struct BaselineRemove {
    /// Name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}
