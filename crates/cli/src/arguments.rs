//! What the user may type.

mod baseline;
mod conform;
mod effort;
mod export;
mod history;
mod measure;
mod questions;
mod report;
mod sweep;

pub use baseline::{Baseline, BaselineAction, BaselineList, BaselineRemove, BaselineSet};
pub use conform::{CheckProbe, CheckTranscript};
pub use effort::Effort;
pub use export::Export;
pub use history::History;
pub use measure::Measure;
pub use questions::{Budget, Explain};
pub use report::Report;
pub use sweep::{AxisWord, Sweep};

pub use switchcost_session::arguments::{ListFormat, StoreOption};

use crate::features;
use crate::formats::Form;
use clap::builder::ArgPredicate;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use switchcost_catalogue::grammar;
use switchcost_model::{Experiment, Placement, Severity, Timing};
use switchcost_report::{Detail, Style};
use switchcost_session::arguments::{bounded_time, parse_budget, parse_difference, parse_word};
use switchcost_session::{exit, output};

/// Measures what it costs to hand the CPU from one execution context to another.
#[derive(Parser, Debug)]
#[command(name = "switchcost", version, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Measure the main mechanisms, or those that the patterns name
    #[command(after_help = exit::HELP)]
    Run(Run),
    /// Measure along an axis: curves over contexts, working set, payload, stack size; CPU pairs; scheduling class
    #[command(after_help = exit::HELP)]
    Sweep(Sweep),
    /// List mechanisms: which probes run each one here, or why none does and what to install
    List(List),
    /// Show a stored run
    Show(Show),
    /// List stored runs; with a pattern, show the trend of each row and where it changed
    ///
    ///   switchcost history                       stored runs
    ///   switchcost history thread/pipe           its figure in each run of this machine, changes of kernel and level
    ///   switchcost history 'stack/*' --since 30d --machine all
    #[command(verbatim_doc_comment)]
    History(History),
    /// Is B slower than A, by how much, and can that be trusted?
    ///
    /// Two names are a question: what a switch, making one and the memory of one cost, from stored
    /// runs, and what is missing is measured now. Rows of a run, whole runs, files and published
    /// figures are compared with A, the first operand. The verdict is `slower` or `faster` if the
    /// interval of the ratio excludes 1 and the difference exceeds noise floor and threshold;
    /// `same within x %` if the whole interval lies within that; else `cannot tell`.
    ///
    ///   switchcost compare goroutine thread                which is cheaper here, and by how much
    ///   switchcost compare thread/pipe 'thread/*'          one against all that match
    ///   switchcost compare latest~1 latest --gate 5%       all common rows of two runs, for CI
    ///   switchcost compare baseline:v1 latest --gate 5%    against a named run (`baseline set v1`)
    ///   switchcost compare --measure thread/pipe 'thread/pipe free'    measured now and judged
    ///   switchcost compare --measure 'thread/*' --probe old/gcc-12 --probe new/gcc-12    two builds
    ///   switchcost compare a.jsonl:thread/pipe thread/pipe published:bendersky-pinned
    #[command(after_help = exit::HELP, verbatim_doc_comment)]
    Compare(Compare),
    /// Name runs to compare later ones with: `compare baseline:NAME latest --gate 5%`
    Baseline(Baseline),
    /// Write a page with pictures of one or several runs, for any browser, without network
    ///
    ///   switchcost report --open                      the latest run, in a browser
    ///   switchcost report latest~1 latest mine.jsonl  several runs, or runs of several machines
    ///   switchcost report latest audit.json           with what `audit --format json` printed
    ///
    /// Each picture of the page can be saved as SVG or PNG.
    #[command(after_help = exit::HELP, verbatim_doc_comment)]
    Report(Report),
    /// Where the nanoseconds of a mechanism go, layer by layer
    ///
    /// Each layer is a difference of measured rows with its interval, all from one interleaved run. What no layer explains is the unexplained rest.
    #[command(after_help = exit::HELP)]
    Explain(Explain),
    /// Which mechanisms can afford a rate of switches between a number of contexts?
    ///
    /// Answers from stored measurements of this machine. Ranked are only mechanisms that a program can choose and that were measured with as many
    /// contexts; from other sizes there are guesses, shown apart. CPU time is the rate times the mean cost.
    #[command(after_help = exit::HELP)]
    Budget(Budget),
    /// What makes numbers on this machine unreliable, by how much, and the cure
    ///
    ///   switchcost doctor                               what to know before a figure is trusted
    ///   switchcost doctor --gate && switchcost run      measure only where no finding is a warning
    ///   switchcost doctor --gate --accept idle_wakeup --format json
    #[command(after_help = exit::HELP, verbatim_doc_comment)]
    Doctor(Doctor),
    /// Write a stored run to a file, to share it or in another format
    Export(Export),
    /// Import run files made by `export` into the store
    Import(Import),
    /// Check whether a probe follows PROTOCOL.md, and which rules it breaks
    ///
    /// Starts the probe with every plan of protocol/plans.toml and names each broken rule with its section, the arguments, the line and the end of
    /// the log. Ends with 6 if a rule is broken, with 3 if nothing could run here.
    #[command(name = "check-probe", after_help = exit::HELP)]
    CheckProbe(CheckProbe),
    /// Read a probe's report as a run would, and say what is wrong with it
    #[command(name = "check-transcript", after_help = exit::HELP)]
    CheckTranscript(CheckTranscript),
}

/// Help of `--experiment`.
fn what_to_measure(that: &str) -> String {
    let names: Vec<&str> = Experiment::all().iter().map(|experiment| experiment.as_str()).collect();
    format!("What to measure: {} [default: the mechanism's first{that}]", names.join(", "))
}

/// Help of `--placement`.
fn where_to_run() -> String {
    let names: Vec<String> = Placement::all().iter().map(|kind| format!("{kind} ({})", kind.choice())).collect();
    format!("{} or pair:A-B (CPU numbers) [default: the mechanism's first]", names.join(", "))
}

/// `run`.
#[derive(Args, Debug)]
pub struct Run {
    /// Mechanisms by name, family or glob: thread/pipe, stack, '*/pipe'; words that follow in the same argument say
    /// which rows: 'thread/pipe free', 'stack/asm@gcc-12 contexts=100'
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Every mechanism, not only the main ones
    #[arg(long, conflicts_with = "patterns")]
    pub all: bool,
    /// What to measure
    #[arg(long, help = what_to_measure(""), value_name = "E", value_parser = parse_word::<Experiment>)]
    pub experiment: Option<Experiment>,
    /// Contexts in the ring [default: 2]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = parse_contexts)]
    pub contexts: Vec<u64>,
    /// Where the contexts run
    #[arg(long, help = where_to_run(), value_name = "P,...", value_delimiter = ',', value_parser = parse_word::<Placement>)]
    pub placement: Vec<Placement>,
    /// batch: clock around many switches; each: cycle counter at every switch, for percentiles
    #[arg(long, value_name = "T", default_value = "batch", value_parser = parse_word::<Timing>)]
    pub timing: Timing,
    /// Time limit for the whole run, such as 20s or 2m [default: 60s; of the ladder 30s; with --quick 10s]
    #[arg(long, value_name = "TIME", default_value = "30s", hide_default_value = true, value_parser = parse_budget, default_value_ifs([
        ("quick", "true".into(), "10s"), ("all", "true".into(), "60s"), ("patterns", ArgPredicate::IsPresent, "60s")
    ]))]
    pub budget: Duration,
    /// What to measure, and how much
    #[command(flatten)]
    pub effort: Effort,
    /// Target length of a batch
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = parse_batch)]
    pub batch_time: Duration,
    /// How much is told
    #[command(flatten)]
    pub detail: DetailOptions,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table", value_parser = Form::parser())]
    pub format: Form,
    /// Also write an HTML report [default: switchcost-RUN.html in this folder]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub report: Option<Option<PathBuf>>,
    /// Open that page in a browser
    #[arg(long, requires = "report")]
    pub open: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// How much of a run the format `table` tells.
#[derive(Args, Debug, Clone, Copy)]
pub struct DetailOptions {
    /// More columns: intervals, minimum, kernel switches, CPUs; controls as well
    #[arg(short, long)]
    pub verbose: bool,
    /// The same with every note on every row, and every warning
    #[arg(long)]
    pub notes: bool,
}

impl DetailOptions {
    /// The style of standard output, with what it asks for.
    pub fn style(self) -> Style {
        let detail = match (self.notes, self.verbose) {
            (true, _) => Detail::Notes,
            (_, true) => Detail::Columns,
            _ => Detail::Brief,
        };
        Style { detail, ..output::style() }
    }
}

/// `list`.
#[derive(Args, Debug)]
pub struct List {
    /// Only mechanisms that these name, such as 'stack/*', thread or goroutine
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
}

/// `show`.
#[derive(Args, Debug)]
pub struct Show {
    /// Run id, the beginning of one, `latest`, or `latest~N` for the Nth before it; then, or instead, mechanisms whose rows
    /// are shown only: thread, goroutine, 'stack/*'. Without a run the newest that has them is shown
    #[arg(value_name = "RUN|PATTERN")]
    pub operands: Vec<String>,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table", value_parser = Form::parser())]
    pub format: Form,
    /// Draw the rows as bars on a logarithmic scale below the table
    #[arg(long)]
    pub plot: bool,
    /// How much is told
    #[command(flatten)]
    pub detail: DetailOptions,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `compare`.
#[derive(Args, Debug)]
pub struct Compare {
    /// A, the reference, then what is compared with it: RUN:LABEL; a label or pattern of the run of --run; a RUN or a file
    /// by `export` (*.jsonl) or baseline:NAME, for all rows that both have; published:NAME, shown and never judged.
    /// With --probe: what both builds measure
    #[arg(value_name = "OPERAND", required = true)]
    pub operands: Vec<String>,
    /// Run of rows that name none: an id, the beginning of one, `latest`, or `latest~N`, or a file [default: the newest that has them all]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Smallest difference that matters [default: 3%, or that of --gate if smaller]
    #[arg(long, value_name = "PERCENT", value_parser = parse_difference)]
    pub threshold: Option<f64>,
    /// End with status 1 if a row is slower by more than this, 0 if the intervals of all rows exclude that, 7 if neither is shown
    #[arg(long, value_name = "PERCENT", value_parser = parse_difference)]
    pub gate: Option<f64>,
    /// Compare even if a run was unstable or the versions of the method differ
    #[arg(long)]
    pub force: bool,
    /// Measuring now
    #[command(flatten)]
    pub measure: Measure,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: CompareFormat,
    /// Write the comparison to this file as well, in the form that its name ends by: .md, .json or .xml (JUnit)
    #[arg(long, value_name = "FILE", value_parser = parse_written)]
    pub write: Vec<Written>,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// `doctor`.
#[derive(Args, Debug)]
pub struct Doctor {
    /// What is fine as well
    #[arg(short, long)]
    pub verbose: bool,
    /// Is this machine fit to measure? End with 1 if a finding is as severe as this: warning, or note for either [default: warning]
    #[arg(long, value_name = "SEVERITY", num_args = 0..=1, require_equals = true, default_missing_value = "warning", value_parser = parse_gate)]
    pub gate: Option<Severity>,
    /// Findings that the gate lets through, such as idle_wakeup where only rows on one CPU count
    #[arg(long, value_name = "ID,...", value_delimiter = ',', requires = "gate")]
    pub accept: Vec<String>,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
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

/// A file and the form that its name asks for.
#[derive(Debug, Clone)]
pub struct Written {
    /// Where.
    pub file: PathBuf,
    /// What.
    pub form: WrittenForm,
}

/// Forms of files beside the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenForm {
    /// Markdown.
    Markdown,
    /// For scripts.
    Json,
    /// JUnit's XML.
    Junit,
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

fn parse_written(text: &str) -> Result<Written, String> {
    let file = PathBuf::from(text);
    let form = match file.extension().and_then(|end| end.to_str()) {
        Some("md") => WrittenForm::Markdown,
        Some("json") => WrittenForm::Json,
        Some("xml") => WrittenForm::Junit,
        _ => return Err("its name ends by .md, .json or .xml".into()),
    };
    Ok(Written { file, form })
}

fn parse_gate(text: &str) -> Result<Severity, String> {
    match text.parse() {
        Ok(severity @ (Severity::Note | Severity::Warning)) => Ok(severity),
        _ => Err("it is warning or note".into()),
    }
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

fn parse_contexts(text: &str) -> Result<u64, String> {
    let count = grammar::count(text).filter(|count| (1..=10_000_000).contains(count));
    count.ok_or_else(|| "it is a number from 1 to 10M, such as 2, 500 or 10k".into())
}

fn parse_batch(text: &str) -> Result<Duration, String> {
    bounded_time(text, Duration::from_micros(1), Duration::from_secs(10))
}

fn parse_precision(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.strip_suffix('%').unwrap_or(text).trim().parse();
    match number {
        Ok(percent) if (0.01..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("it is a percentage from 0.01% to 100%".into()),
    }
}

/// The whole command line, that of the features included.
pub fn command() -> clap::Command {
    let all = Arguments::command().subcommands(features::commands().map(|command| (command.define)()));
    all.after_help(whole_help())
}

/// What people ask of the core, and the words that answer it.
const QUESTIONS: [(&str, &str); 6] = [
    ("what does a switch cost here?", "run"),
    ("which of two is cheaper?", "compare goroutine thread"),
    ("what fits my load?", "budget --rate 200k/s --contexts 10k --measure"),
    ("where do the nanoseconds go?", "explain thread/futex"),
    ("did an update make it slower?", "history thread/pipe"),
    ("can I trust figures from here?", "doctor"),
];

/// Ends the help of the program: what people ask, and the command that answers it.
fn whole_help() -> String {
    let asked = QUESTIONS.into_iter().chain(features::commands().filter_map(|command| command.question));
    let lines: Vec<String> = asked.map(|(question, words)| format!("  {question:<34} switchcost {words}\n")).collect();
    format!("Questions:\n{}\n{}", lines.concat(), exit::HELP)
}
