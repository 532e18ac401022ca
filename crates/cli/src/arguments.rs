//! What the user may type.

use crate::exit;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use switchcost_model::{Experiment, Placement, Timing};

/// Measures what it costs to hand the CPU from one execution context to another.
#[derive(Parser, Debug)]
#[command(name = "switchcost", version, after_help = exit::HELP, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Measure: the headline ladder, or the mechanisms that match the patterns
    #[command(after_help = exit::HELP)]
    Run(Run),
    /// Every mechanism: which probes run it here, or why none does and what to install
    List(List),
    /// Show a stored run
    Show(Show),
    /// Stored runs, newest first
    History(History),
    /// Is B slower than A, by how much, and can that be trusted?
    ///
    /// Mechanisms of a run, whole runs, files and published figures are compared with A, the
    /// first operand. The verdict is `slower` or `faster` if the interval of the ratio excludes
    /// 1 and the difference exceeds noise floor and threshold; `same within x %` if the whole
    /// interval lies within that; else `cannot tell`.
    ///
    ///   switchcost compare thread/pipe thread/futex        two rows of the latest run, paired by round
    ///   switchcost compare thread/pipe 'thread/*'          one against all that match
    ///   switchcost compare latest~1 latest --gate 5%       all common rows of two runs, for CI
    ///   switchcost compare a.jsonl:thread/pipe thread/pipe published:bendersky-pinned
    #[command(after_help = exit::HELP, verbatim_doc_comment)]
    Compare(Compare),
    /// What makes numbers on this machine untrustworthy, how much, and the cure
    Doctor(Doctor),
    /// Write a stored run to a file for others, or for another format
    Export(Export),
    /// Take a run file made by `export --format jsonl` into the store
    Import(Import),
    /// Write man page, completions and JSON schema into a folder
    #[command(hide = true)]
    Generate {
        /// Folder
        folder: PathBuf,
    },
}

/// Where runs are stored.
#[derive(Args, Debug)]
pub struct StoreOption {
    /// Database of runs [default: $XDG_DATA_HOME/switchcost/runs.sqlite]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

/// `run`.
#[derive(Args, Debug)]
pub struct Run {
    /// Globs over family/name, such as 'stack/*' or thread/pipe; a family's name means all of it
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Every mechanism, not only the headline ladder
    #[arg(long, conflicts_with = "patterns")]
    pub all: bool,
    /// What to measure: switch, create, message or footprint [default: the mechanism's first]
    #[arg(long, value_name = "E", value_parser = parse_word::<Experiment>)]
    pub experiment: Option<Experiment>,
    /// Contexts in the ring [default: 2]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub contexts: Vec<u64>,
    /// one_cpu, two_cpus or free (where the scheduler likes) [default: the mechanism's first]
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = parse_word::<Placement>)]
    pub placement: Vec<Placement>,
    /// batch: clock around many switches; each: cycle counter at every switch, for percentiles
    #[arg(long, value_name = "T", default_value = "batch", value_parser = parse_word::<Timing>)]
    pub timing: Timing,
    /// Parameter of a mechanism, such as fpu_state=differ; several values make several rows
    #[arg(long = "param", value_name = "NAME=V,...", value_parser = parse_parameter)]
    pub parameters: Vec<(String, Vec<String>)>,
    /// Time that the whole run may take, such as 20s or 2m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_budget)]
    pub budget: Duration,
    /// Exactly so many rounds (starts of each probe) [default: 10 to 40, as precision needs]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub rounds: Option<u64>,
    /// Half-width of the 95 % interval to aim at
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = parse_precision)]
    pub precision: f64,
    /// Seed of the random order of measurements [default: random, stored with the run]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Probes by id or source, such as gcc-12,go [default: the best one of each mechanism]
    #[arg(long, value_name = "P,...", value_delimiter = ',')]
    pub probe: Vec<String>,
    /// Batches measured in each start of a probe
    #[arg(long, value_name = "B", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub batches: u64,
    /// Length of a batch that the calibration aims at
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = parse_batch)]
    pub batch_time: Duration,
    /// Form of the result
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: Format,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `list`.
#[derive(Args, Debug)]
pub struct List {
    /// Form of the answer
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
}

/// `show`.
#[derive(Args, Debug)]
pub struct Show {
    /// Run id, the beginning of one, `latest`, or `latest~N` for the Nth before it
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Form of the result
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: Format,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `compare`.
#[derive(Args, Debug)]
pub struct Compare {
    /// A, the reference, then what is compared with it: RUN:LABEL; a label or pattern of the run of --run; a RUN or a file
    /// by `export` (*.jsonl), for all rows that both have; published:NAME, shown and never judged
    #[arg(value_name = "OPERAND", required = true)]
    pub operands: Vec<String>,
    /// Run of labels that name none: an id, the beginning of one, `latest`, or `latest~N`, or a file
    #[arg(long, value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Smallest difference that matters [default: 3%, or that of --gate if smaller]
    #[arg(long, value_name = "PERCENT", value_parser = parse_difference)]
    pub threshold: Option<f64>,
    /// End with status 1 if a verdict is `slower` and the difference exceeds this, 0 if none is, 4 if rows could not be judged
    #[arg(long, value_name = "PERCENT", value_parser = parse_difference)]
    pub gate: Option<f64>,
    /// Judge in spite of an unstable run or of different versions of the method
    #[arg(long)]
    pub force: bool,
    /// Form of the answer
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: CompareFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `history`.
#[derive(Args, Debug)]
pub struct History {
    /// Form of the answer
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `doctor`.
#[derive(Args, Debug)]
pub struct Doctor {
    /// Form of the answer
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
}

/// `export`.
#[derive(Args, Debug)]
pub struct Export {
    /// Run id, the beginning of one, `latest`, or `latest~N`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Form of the file; only jsonl keeps everything and can be imported
    #[arg(long, value_name = "F", default_value = "jsonl")]
    pub format: Format,
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

/// `import`.
#[derive(Args, Debug)]
pub struct Import {
    /// Run files; - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// Forms of a result.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
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
}

/// Forms of a comparison.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareFormat {
    /// For people at a terminal
    Table,
    /// For scripts
    Json,
    /// Markdown
    Md,
}

/// Forms of an answer.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// For people
    Table,
    /// For scripts
    Json,
}

fn parse_word<T: std::str::FromStr<Err = switchcost_model::IdError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: switchcost_model::IdError| error.0)
}

fn parse_parameter(text: &str) -> Result<(String, Vec<String>), String> {
    let fits =
        |value: &str| !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._/+-".contains(&b));
    match text.split_once('=') {
        Some((name, values)) if fits(name) && values.split(',').all(fits) => {
            Ok((name.to_owned(), values.split(',').map(str::to_owned).collect()))
        }
        _ => Err("it has the form NAME=VALUE or NAME=VALUE,VALUE, of letters, digits and . _ / + -".into()),
    }
}

fn parse_budget(text: &str) -> Result<Duration, String> {
    bounded_time(text, Duration::from_millis(100), Duration::from_secs(86_400))
}

fn parse_batch(text: &str) -> Result<Duration, String> {
    bounded_time(text, Duration::from_micros(1), Duration::from_secs(10))
}

fn bounded_time(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|_| "it is a time with a unit, such as 20s, 2m or 500ms")?;
    let between =
        || format!("it lies between {} and {}", humantime::format_duration(least), humantime::format_duration(most));
    if (least..=most).contains(&time) { Ok(time) } else { Err(between()) }
}

fn parse_precision(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.strip_suffix('%').unwrap_or(text).trim().parse();
    match number {
        Ok(percent) if (0.01..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("it is a percentage from 0.01% to 100%".into()),
    }
}

fn parse_difference(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.strip_suffix('%').unwrap_or(text).trim().parse();
    match number {
        Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("it is a percentage from 0% to 1000%".into()),
    }
}
