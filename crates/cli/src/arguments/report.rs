//! `report`.

use super::StoreOption;
use clap::Args;
use std::path::PathBuf;

/// `report`.
#[derive(Args, Debug)]
pub struct Report {
    /// Runs: an id, the beginning of one, `latest`, `latest~N`, or a file from `export` (*.jsonl); also answers of `audit --format json` (*.json)
    #[arg(value_name = "RUN", default_value = "latest")]
    pub runs: Vec<String>,
    /// Page to write; an older one of that name is replaced [default: switchcost-RUN.html in this folder]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep what says whose the runs are: host name, user names, paths
    #[arg(long)]
    pub private_facts: bool,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}
