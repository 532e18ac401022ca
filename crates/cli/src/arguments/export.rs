//! `export`.

use super::StoreOption;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `export`.
#[derive(Args, Debug)]
pub struct Export {
    /// Run id, the beginning of one, `latest`, `latest~N`, or `baseline:NAME`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Form of the file; only jsonl keeps everything and can be imported
    #[arg(long, value_name = "F", default_value = "jsonl")]
    pub format: ExportFormat,
    /// File to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Leave out host name, user names and paths
    #[arg(long)]
    pub shareable: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// Forms of a file.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// For people at a terminal
    Table,
    /// One object: results, evidence, machine
    Json,
    /// Everything, raw ticks included; can be imported
    Jsonl,
    /// One line a row
    Csv,
    /// Markdown
    Md,
    /// Go's benchmark text, one line an invocation: for benchstat
    Benchstat,
    /// One row a batch: for data frames; needs -o
    Parquet,
}
