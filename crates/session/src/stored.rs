//! Runs that files hold, and the dates of runs.

use crate::exit::Failure;
use crate::output;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use switchcost_catalogue::Catalogue;
use switchcost_machine::cause;
use switchcost_model::{Run, harmless};
use switchcost_report::moment;
use switchcost_store::{Imported, Store, StoreError};

/// A run from a file by `export`, judged by the rules of this version; and what must be said of it.
///
/// # Errors
/// The file cannot be read, or is not a run file.
pub fn read_run_file(path: &Path, catalogue: &Catalogue) -> Result<(Run, Vec<String>), Failure> {
    let refused = |reason| Failure::usage(format!("{}: {reason}", path.display()));
    let Imported { mut run, left_out } = switchcost_store::import_jsonl(&mut named(path)?).map_err(refused)?;
    let lines = left_out_line(&path.display().to_string(), &run, &left_out);
    let lines = lines.into_iter().chain(judged_here(&mut run, catalogue)).collect();
    Ok((run, lines))
}

/// The same, and says it.
///
/// # Errors
/// Likewise.
pub fn run_file(path: &Path, catalogue: &Catalogue) -> Result<Run, Failure> {
    let (run, lines) = read_run_file(path, catalogue)?;
    lines.iter().for_each(|line| output::say(line));
    Ok(run)
}

fn left_out_line(file: &str, run: &Run, left_out: &BTreeSet<String>) -> Option<String> {
    let fields = left_out.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let version = harmless(&run.tool_version);
    let line = format!("{file}: by switchcost {version}; this version does not know, and leaves out: {fields}");
    (!left_out.is_empty()).then_some(line)
}

/// Says which fields of a file by a later version were left out, if any.
pub fn say_left_out(file: &str, run: &Run, left_out: &BTreeSet<String>) {
    left_out_line(file, run, left_out).iter().for_each(|line| output::say(line));
}

/// Opens a file that the user named.
///
/// # Errors
/// It cannot be read, or is a folder or a pipe, which may have no end.
pub fn named(path: &Path) -> Result<BufReader<File>, Failure> {
    let refused = |why| Failure::usage(format!("{}: cannot be read ({})", path.display(), cause(&why)));
    switchcost_machine::open_file(path).map(BufReader::new).map_err(refused)
}

/// Judges a run that was read from a file by the rules of this version: what it says of itself is
/// not believed. A line for each verdict that changes by that.
pub fn judged_here(run: &mut Run, catalogue: &Catalogue) -> Vec<String> {
    let changed = switchcost_analysis::judge_again(run, &catalogue.mechanisms);
    let line = |changed: &switchcost_analysis::Changed| {
        let variant = &run.variants[changed.variant];
        let reason =
            changed.reason.as_ref().map(|reason| format!(": {}", harmless(&reason.to_string()))).unwrap_or_default();
        format!(
            "  {} ({}, {}): {} in the file, {} by its evidence{reason}",
            variant.mechanism,
            harmless(&variant.probe),
            variant.placement,
            changed.from,
            changed.to
        )
    };
    changed.iter().map(line).collect()
}

/// This moment, ns since 1970 UTC.
#[must_use]
pub fn now_unix_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

/// Says of runs, given by id and start, which of them lie in the future: nobody knows how old these
/// are.
pub fn say_future<'r>(runs: impl IntoIterator<Item = (&'r str, i64)>) {
    let now = now_unix_ns();
    let ahead: Vec<(&str, i64)> = runs.into_iter().filter(|(_, started)| *started > now).collect();
    let Some((id, started)) = ahead.first() else { return };
    let others = match ahead.len() {
        1 => String::new(),
        2 => " (and that of 1 other run)".to_owned(),
        count => format!(" (and those of {} other runs)", count - 1),
    };
    output::say(&format!(
        "run {id}: its date, {}, lies in the future{others}; a clock was wrong then or is wrong now, so its age is unknown",
        moment(*started)
    ));
}

/// Opens a store for writing, in the name of the folder's owner.
pub fn opened(path: &Path) -> Result<Store, StoreError> {
    let beside = ["", "-wal", "-shm"].map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    });
    switchcost_machine::making(&beside, || Store::open(path))
}
