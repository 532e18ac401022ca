//! `kernels`.

use clap::Parser;
use std::path::PathBuf;
use std::time::Duration;
use switchcost_session::arguments::{ListFormat, parse_budget, parse_difference};

/// Count what kernels do in one switch, in an emulator
///
/// Boots each kernel under QEMU and counts instructions and kernel switches. Counts are not times.
/// Status 125: a gate could not be judged, as `git bisect run` expects; 129: it cannot be judged at
/// all.
#[derive(Parser, Debug)]
#[command(name = "kernels")]
pub struct Kernels {
    /// Mechanisms with words of their rows, such as thread/futex [default: futex, pipe, epoll,
    /// eventfd, semaphore, seccomp, io_uring, fork]
    #[arg(value_name = "ROW")]
    pub rows: Vec<String>,
    /// A kernel, as bzImage; repeat for a column each [default: those of `scripts/setup kernels`]
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,
    /// Folder of another static probe; repeat for a column each
    #[arg(long, value_name = "FOLDER")]
    pub probe: Vec<PathBuf>,
    /// A setting in a further column of each kernel: sched_ext, or a word or file of its sched/ in
    /// debugfs, such as NO_DELAY_DEQUEUE or preempt=full
    #[arg(long, value_name = "SETTING", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub with: Vec<String>,
    /// Levels of control groups above the probe, a row each
    #[arg(long, value_name = "D", value_delimiter = ',', default_value = "0", value_parser = clap::value_parser!(u8).range(0..=32))]
    pub depth: Vec<u8>,
    /// Boots of each column
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub boots: u64,
    /// Count also by function and part of the kernel
    #[arg(long)]
    pub functions: bool,
    /// Instead of counting, print what `--format json` has kept
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rows", "image", "probe", "with", "functions", "boots", "depth"])]
    pub from: Option<PathBuf>,
    /// Fail if the second of two columns executes more by more than this
    #[arg(long, value_name = "PERCENT", value_parser = parse_difference)]
    pub gate: Option<f64>,
    /// Longest silence of a virtual machine
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = parse_budget)]
    pub silence: Duration,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
}
