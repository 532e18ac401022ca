//! `export`.

use super::StoreOption;
use crate::formats::Form;
use clap::Args;
use std::path::PathBuf;

/// `export`.
#[derive(Args, Debug)]
pub struct Export {
    /// Run id, the beginning of one, `latest`, `latest~N`, or `baseline:NAME`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// File format; only jsonl keeps everything and can be imported
    #[arg(long, value_name = "F", default_value = "jsonl", value_parser = Form::parser())]
    pub format: Form,
    /// File to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Keep what says whose the run is: host name, user names, paths
    #[arg(long, conflicts_with = "shareable")]
    pub private_facts: bool,
    /// Leave them out, which is the default
    #[arg(long, hide = true)]
    pub shareable: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}
