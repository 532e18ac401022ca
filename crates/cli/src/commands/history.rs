//! `history`: stored runs, and the trend of a row over them.

mod kept;
mod list;
mod trend;

use clap::Parser;
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use switchcost_analysis::At;
use switchcost_model::Machine;
use switchcost_model::number::counted;
use switchcost_report::moment;
use switchcost_session::arguments::{ListFormat, StoreOption};
use switchcost_session::{Action, Exit, Failure, output, paths, say_future};
use switchcost_store::{RunHeader, Store};

/// List stored runs, or the trend of rows and where they changed
///
/// switchcost history stored runs switchcost history thread/pipe its figure in each run of this
/// machine, changes of kernel and level switchcost history 'stack/*' --since 30d --machine all
#[derive(Parser, Debug)]
#[command(name = "history", verbatim_doc_comment)]
pub struct History {
    /// Show the trend of each row that this names, such as thread/pipe, 'stack/*' or 'thread/pipe
    /// free', and where it changed
    #[arg(value_name = "PATTERN")]
    pub pattern: Option<String>,
    /// Runs of which machine: this, all (a block for each), or the beginning of its key [default:
    /// this for trends, all for the list]
    #[arg(long, value_name = "KEY")]
    pub machine: Option<String>,
    /// Only runs since then: a date such as 2026-11-20, in UTC, or a time back from now such as 30d
    #[arg(long, value_name = "WHEN", value_parser = parse_since)]
    pub since: Option<SystemTime>,
    /// Only the latest N runs [default: 20 of the list, 200 for trends]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub last: Option<u64>,
    /// A percentile of single switches, such as p99 or p99.9, in place of the median; of rows
    /// measured with --timing each
    #[arg(long, value_name = "P", default_value = "median", hide_default_value = true, requires = "pattern")]
    pub at: At,
    /// A line for each run of each row
    #[arg(short, long, requires = "pattern")]
    pub verbose: bool,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for History {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let path = paths::store(self.store.path())?;
        let text = match Store::open_read_only(&path) {
            // Nobody has measured yet: an empty history, not a fault. A file named by hand must
            // exist.
            Err(_) if self.store.store.is_none() && !path.exists() => list::list(Vec::new(), self.format, None),
            Err(error) => return Err(Failure::usage(error)),
            Ok(store) => {
                let headers = chosen(&store, self)?;
                match &self.pattern {
                    None => list::list(headers, self.format, self.last),
                    Some(pattern) => trend::trend(&store, headers, pattern, (self.format, self.verbose), self.at)?,
                }
            }
        };
        output::print(&text)?;
        Ok(Exit::Fine)
    }
}

/// The runs that the options leave, newest first.
fn chosen(store: &Store, arguments: &History) -> Result<Vec<RunHeader>, Failure> {
    let mut headers = store.list().map_err(Failure::usage)?;
    let default = if arguments.pattern.is_some() { "this" } else { "all" };
    of_machine(&mut headers, arguments.machine.as_deref().unwrap_or(default))?;
    if let Some(since) = arguments.since {
        let since =
            since.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
        let newest = headers.first().map(|newest| newest.started_unix_ns);
        if let Some(newest) = newest.filter(|_| headers.iter().all(|header| header.started_unix_ns < since)) {
            return Err(Failure::usage(format!(
                "none of {} is as young as --since says, {}; the newest is of {}",
                counted(headers.len(), "stored run"),
                moment(since),
                moment(newest)
            )));
        }
        headers.retain(|header| header.started_unix_ns >= since);
    }
    if arguments.pattern.is_some() {
        // A list shows runs in the order of the store, by which `latest` counts. A trend goes by
        // time.
        headers.sort_by_key(|header| std::cmp::Reverse(header.started_unix_ns));
    }
    let default = arguments.pattern.as_ref().map_or(usize::MAX, |_| trend::MOST_RUNS);
    headers.truncate(arguments.last.map_or(default, |last| last as usize));
    say_future(headers.iter().map(|header| (header.id.as_str(), header.started_unix_ns)));
    Ok(headers)
}

fn of_machine(headers: &mut Vec<RunHeader>, wanted: &str) -> Result<(), Failure> {
    if wanted == "all" || headers.is_empty() {
        return Ok(());
    }
    let mut known: BTreeMap<String, Vec<&RunHeader>> = BTreeMap::new();
    for header in headers.iter() {
        known.entry(header.machine.id()).or_default().push(header);
    }
    let this = (wanted == "this").then(switchcost_machine::fingerprint);
    let wanted = this.as_ref().map_or_else(|| wanted.to_owned(), Machine::id);
    // Of this hardware also what says nothing of its host; of a key that is named every host.
    let hardware = |id: &str| id.split('@').next().unwrap_or_default().to_owned();
    let fits = |id: &&String| match this {
        Some(_) => **id == wanted || **id == hardware(&wanted),
        None => id.starts_with(&wanted),
    };
    let mut fitting: Vec<String> = known.keys().filter(fits).cloned().collect();
    if let (Some(this), []) = (&this, fitting.as_slice()) {
        // Such as the runners of a CI system, each with a name of its own.
        fitting = known.keys().filter(|id| hardware(id) == hardware(&this.id())).cloned().collect();
        if !fitting.is_empty() {
            output::say("no run is of this host; these are of others with equal hardware");
        }
    }
    let one = fitting.first().filter(|first| fitting.iter().all(|id| hardware(id) == hardware(first)));
    if one.is_none() {
        let known: Vec<String> =
            known.iter().map(|(key, runs)| format!("{key} ({}; {} runs)", list::name(runs[0]), runs.len())).collect();
        let what = if fitting.is_empty() { "no run is of machine" } else { "several machines begin with" };
        return Err(Failure::usage(format!(
            "{what} {wanted}; the store knows {}: name one by --machine, or take --machine all",
            known.join(", ")
        )));
    }
    headers.retain(|header| fitting.contains(&header.machine.id()));
    Ok(())
}

/// A moment: a date in UTC, or a time back from now.
pub fn parse_since(text: &str) -> Result<SystemTime, String> {
    let back = |span: Duration| SystemTime::now().checked_sub(span);
    let date =
        humantime::parse_rfc3339_weak(text).or_else(|_| humantime::parse_rfc3339_weak(&format!("{text} 00:00:00")));
    date.ok()
        .or_else(|| humantime::parse_duration(text).ok().and_then(back))
        .ok_or_else(|| "it is a date such as 2026-11-20, or a time back from now such as 30d".to_owned())
}
