//! `classic`.

use clap::Parser;
use std::time::Duration;
use switchcost_model::Placement;
use switchcost_session::arguments::{ListFormat, Measuring, StoreOption, parse_budget, parse_word};

/// Beside the usual ones that of an original.
const STATUSES: &str = "Exit status: 0 fine, 1 the original refuses its arguments, 2 usage error, 3 nothing measured, 4 partial, 5 evidence contradicts a claim";

/// Re-run a program of five published articles beside our figure
///
/// Arguments, defaults and checks are the original's: what it refuses ends with its message and
/// exit status. The same amount of work is spread over several process starts.
///
/// switchcost classic what there is, and what each measures switchcost classic testFiber 50 1000000
/// as the original would be started switchcost classic context_switch --placement free only as the
/// scheduler likes switchcost classic all > classic.md one Markdown page of all, with default
/// arguments
#[derive(Parser, Debug)]
#[command(name = "classic", verbatim_doc_comment, after_help = STATUSES)]
pub struct Classic {
    /// Name of a program, or `all` [default: list the programs]
    #[arg(value_name = "PROGRAM")]
    pub program: Option<String>,
    /// Its arguments, as the original takes them
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    pub arguments: Vec<String>,
    #[arg(long, help = placements(), value_name = "P,...", value_delimiter = ',', value_parser = parse_word::<Placement>)]
    pub placement: Vec<Placement>,
    /// Rounds (starts of each probe) over which the work is spread [default: 10]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub rounds: Option<u64>,
    /// Time limit for each program, such as 20s or 2m [default: the program's own, which the list
    /// names]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// How each command measures
    #[command(flatten)]
    pub how: Measuring,
    /// Reasons in full; of the list, what each program measures and takes
    #[arg(short, long)]
    pub verbose: bool,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

fn placements() -> String {
    let names: Vec<String> = Placement::all().iter().map(ToString::to_string).collect();
    format!("Only these of the program's placements: {} [default: all]", names.join(", "))
}
