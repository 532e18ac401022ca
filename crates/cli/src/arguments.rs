//! Options and values that several commands of the core have.

use clap::{Arg, Args, Command};
use std::path::PathBuf;
use std::sync::OnceLock;
use switchcost_catalogue::grammar;
use switchcost_model::{Counter, Experiment, Placement};
use switchcost_report::{Detail, Style};
use switchcost_session::arguments::parse_word;
use switchcost_session::defaults::OPTIONS;
use switchcost_session::output;

/// How much of a run the format `table` tells.
#[derive(Args, Debug, Clone, Copy)]
pub struct DetailOptions {
    /// More columns: intervals, kernel switches, CPUs
    ///
    /// Also the controls.
    #[arg(short, long)]
    pub verbose: bool,
    /// The same with every note and every warning
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

/// What is counted beside the time.
#[derive(Args, Debug, Clone, Default)]
pub struct CountersOption {
    /// Count cycles, misses or these events per unit
    ///
    /// Of the CPU, in user mode and in the kernel apart: cycles, instructions, branch-misses,
    /// cache-misses. Of the kernel: task-clock, page-faults, context-switches. In starts of their
    /// own, whose times are in no figure.
    #[arg(long, value_name = "E,...", value_delimiter = ',', num_args = 0..=1, require_equals = true, default_missing_value = "cycles,instructions,branch-misses,cache-misses", value_parser = parse_word::<Counter>)]
    pub counters: Vec<Counter>,
}

/// A parameter of a mechanism with its values.
pub fn parse_parameter(text: &str) -> Result<(String, Vec<String>), String> {
    let fits =
        |value: &str| !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._/+-".contains(&b));
    match text.split_once('=') {
        Some((name, values)) if fits(name) && values.split(',').all(fits) => {
            Ok((name.to_owned(), values.split(',').map(str::to_owned).collect()))
        }
        _ => Err("it has the form NAME=VALUE or NAME=VALUE,VALUE, of letters, digits and . _ / + -".into()),
    }
}

/// A share, in percent.
pub fn parse_precision(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.strip_suffix('%').unwrap_or(text).trim().parse();
    match number {
        Ok(percent) if (0.01..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("it is a percentage from 0.01% to 100%".into()),
    }
}

/// Help of `--experiment`.
pub fn what_to_measure(that: &str) -> String {
    let names: Vec<&str> = Experiment::all().iter().map(|experiment| experiment.as_str()).collect();
    format!("What to measure: {} [default: its first{that}]", names.join(", "))
}

/// Help of `--placement`; `all`: what each one is.
pub fn where_to_run(all: bool) -> String {
    let name = |kind: &Placement| if all { format!("{kind} ({})", kind.choice()) } else { kind.to_string() };
    let (names, pair) =
        (Placement::all().iter().map(name).collect::<Vec<_>>(), if all { " (CPU numbers; A-A: one CPU)" } else { "" });
    format!("{} or pair:A-B{pair} [default: its first]", names.join(", "))
}

/// A number of contexts.
pub fn parse_contexts(text: &str) -> Result<u64, String> {
    let count = grammar::count(text).filter(|count| (1..=10_000_000).contains(count));
    count.ok_or_else(|| "it is a number from 1 to 10M, such as 2, 500 or 10k".into())
}

/// The options that name the file, which every command has.
pub fn config_options() -> [Arg; 2] {
    let file = Arg::new("config").long("config").value_name("FILE").value_parser(clap::value_parser!(PathBuf));
    let none = Arg::new("no-config").long("no-config").action(clap::ArgAction::SetTrue).conflicts_with("config");
    let shown = |arg: Arg, help: &'static str| arg.global(true).hide_short_help(true).help(help);
    [
        shown(file, "Defaults of options, in place of ~/.config/switchcost/config.toml"),
        shown(none, "No defaults but the built-in ones"),
    ]
}

/// Options of a command that a file may set.
pub fn settable(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| arg.get_long().is_some_and(|long| OPTIONS.contains(&long)))
}

/// The whole command line, once it is known: of it `config` shows what a file may set.
pub static COMMAND_LINE: OnceLock<Command> = OnceLock::new();
