//! `forget`: removes stored runs.

use super::history::parse_since;
use clap::{ArgGroup, Parser};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use switchcost_model::harmless;
use switchcost_model::number::counted;
use switchcost_report::moment;
use switchcost_session::arguments::StoreOption;
use switchcost_session::{Action, Exit, Failure, open_store, output, paths};
use switchcost_store::{BASELINE, RunHeader, Store};

/// Runs that are listed one by one.
const SHOWN: usize = 20;

/// Characters of a run's command that are shown.
const WORDS: usize = 40;

/// Remove stored runs for good, and give their space back
///
/// It lists them and asks. A run with a baseline stays unless you name it. Of several conditions a
/// run must meet each.
#[derive(Parser, Debug)]
#[command(name = "forget", group = ArgGroup::new("which").required(true).multiple(true))]
pub struct Forget {
    /// Run id, the beginning of one, `latest`, `latest~N`, or `baseline:NAME`
    #[arg(value_name = "RUN", group = "which", conflicts_with_all = ["before", "keep", "older_than_baseline"])]
    pub runs: Vec<String>,
    /// Runs before then: a date such as 2026-11-20, in UTC, or a time back from now such as 90d
    #[arg(long, value_name = "WHEN", group = "which", value_parser = parse_since)]
    pub before: Option<SystemTime>,
    /// All but the newest N runs
    #[arg(long, value_name = "N", group = "which", value_parser = clap::value_parser!(u64).range(1..))]
    pub keep: Option<u64>,
    /// Runs that began before the run of this baseline
    #[arg(long, value_name = "NAME", group = "which")]
    pub older_than_baseline: Option<String>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Forget {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let path = paths::store(self.store.path())?;
        let store = Store::open_read_only(&path).map_err(Failure::usage)?;
        let headers = store.list().map_err(Failure::usage)?;
        let (going, kept) = self.chosen(&store, &headers)?;
        if going.is_empty() {
            output::print(&format!("no run is to go{}\n", because_of_names(&kept)))?;
            return Ok(Exit::Fine);
        }
        if going.len() == headers.len() {
            let all = if going.len() == 1 { "the only run".to_owned() } else { format!("all {} runs", going.len()) };
            let shown = path.display();
            return Err(Failure::usage(format!("this would remove {all} of {shown}; to do so, delete that file")));
        }
        let stay = headers.len() - going.len();
        let verb = if stay == 1 { "stays" } else { "stay" };
        output::print(&format!("{}  {} {verb}{}\n", listed(&going), counted(stay, "run"), because_of_names(&kept)))?;
        // Nothing holds the store while the user thinks.
        drop(store);
        match if self.yes { Some(true) } else { output::agreed("remove them for good? [y/N]") } {
            None => return Err(Failure::usage("nothing was removed: nobody can be asked here; --yes removes them")),
            Some(false) => output::print("nothing was removed\n")?,
            Some(true) => remove(&path, &going)?,
        }
        Ok(Exit::Fine)
    }
}

/// Baselines of runs that would go but for them, by run.
type Kept = BTreeMap<String, Vec<String>>;

impl Forget {
    /// What is to go, newest first, and what the names of runs keep.
    fn chosen<'h>(&self, store: &Store, headers: &'h [RunHeader]) -> Result<(Vec<&'h RunHeader>, Kept), Failure> {
        if !self.runs.is_empty() {
            let ids = self.runs.iter().map(|run| store.resolve(run)).collect::<Result<BTreeSet<_>, _>>();
            let ids = ids.map_err(Failure::usage)?;
            return Ok((headers.iter().filter(|header| ids.contains(&header.id)).collect(), Kept::new()));
        }
        let mut going: Vec<&RunHeader> = headers.iter().collect();
        going.sort_by_key(|header| std::cmp::Reverse(header.started_unix_ns));
        going.drain(..self.keep.map_or(0, |keep| going.len().min(usize::try_from(keep).unwrap_or(usize::MAX))));
        if let Some(before) = self.before {
            let before = before.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
            going.retain(|header| i128::from(header.started_unix_ns) < i128::try_from(before).unwrap_or(i128::MAX));
        }
        if let Some(name) = &self.older_than_baseline {
            let id = store.resolve(&format!("{BASELINE}{name}")).map_err(Failure::usage)?;
            let began = headers.iter().find(|header| header.id == id).map_or(i64::MIN, |header| header.started_unix_ns);
            going.retain(|header| header.started_unix_ns < began);
        }
        let mut kept = Kept::new();
        for baseline in store.baselines().map_err(Failure::usage)? {
            if going.iter().any(|header| header.id == baseline.run) {
                kept.entry(baseline.run).or_default().push(baseline.name);
            }
        }
        going.retain(|header| !kept.contains_key(&header.id));
        Ok((going, kept))
    }
}

fn because_of_names(kept: &Kept) -> String {
    let names: Vec<&str> = kept.values().flatten().map(String::as_str).collect();
    match names[..] {
        [] => String::new(),
        [name] => format!(", 1 as the baseline {name}"),
        _ => format!(", {} as baselines ({})", kept.len(), names.join(", ")),
    }
}

fn listed(going: &[&RunHeader]) -> String {
    let starts = going.iter().map(|header| usize::try_from(header.invocations).unwrap_or(usize::MAX)).sum();
    let (runs, starts) = (counted(going.len(), "run"), counted(starts, "process run"));
    let mut text = format!("{runs} would go, with {starts}:\n");
    for header in going.iter().take(SHOWN) {
        let words = harmless(&header.command.iter().skip(1).map(String::as_str).collect::<Vec<_>>().join(" "));
        let short: String = words.chars().take(WORDS).collect();
        let rest = if short.len() < words.len() { "…" } else { "" };
        text.push_str(&format!("  {}  {}  {short}{rest}\n", harmless(&header.id), moment(header.started_unix_ns)));
    }
    if let Some(more @ 1..) = going.len().checked_sub(SHOWN) {
        text.push_str(&format!("  and {more} older\n"));
    }
    text
}

fn remove(path: &Path, going: &[&RunHeader]) -> Result<(), Failure> {
    let bytes = || path.metadata().map_or(0, |file| file.len());
    let mut store = open_store(Some(path))?;
    let before = bytes();
    let ids: Vec<String> = going.iter().map(|header| header.id.clone()).collect();
    store.forget(&ids).map_err(|error| Failure::usage(format!("nothing was removed: {error}")))?;
    // Of what was removed nothing stays, also not what `history` worked out; the rest is worked out
    // again.
    let _ = paths::cache("figures").map(std::fs::remove_dir_all);
    let runs = counted(ids.len(), "run");
    let unreturned = |error| Failure::partial(format!("{runs} removed, but the file is as large as before: {error}"));
    store.give_back().map_err(unreturned)?;
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let (from, to) = (megabytes(before), megabytes(bytes()));
    output::print(&format!("{runs} removed; {} had {from} and has {to}\n", path.display()))
}
