//! Writes data/example/fleet.json, on which the counts of docs/notebook/fleet.md rest: run files of
//! nodes, made small enough to be kept, as the figures of their starts. Its arguments are folders
//! of run files NAME-NUMBER.jsonl; NAME is `clean`, or the fault that was planted.

use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use switchcost_fleet::{NodeSample, fleet_plan};
use switchcost_session::{Failure, Installation, run_file};

/// Digits of a figure that are kept: its rounding is far below what figures scatter by.
const DIGITS: usize = 5;

/// One run on each line, and the facts that all share once.
fn main() -> anyhow::Result<()> {
    let mut files = Vec::new();
    for folder in std::env::args_os().skip(1) {
        files.extend(run_files(Path::new(&folder))?);
    }
    files.sort_by_key(|path| order(path));
    let samples = samples(&files).map_err(|failure| anyhow::Error::msg(failure.sentence))?;
    let Some((_, first)) = samples.first() else { bail!("there is no run file; name folders of them") };
    let mut shared: BTreeMap<String, String> = first.facts.clone();
    for (_, sample) in &samples {
        shared.retain(|name, value| sample.facts.get(name) == Some(value));
    }
    let mut lines = vec![format!("{{\"facts\":{},\"runs\":[", serde_json::to_string(&shared)?)];
    for (place, (name, mut sample)) in samples.into_iter().enumerate() {
        sample.facts.retain(|fact, _| !shared.contains_key(fact));
        for row in &mut sample.rows {
            for (_, ns, clock) in row.medians.iter_mut().chain(&mut row.means) {
                *ns = rounded(*ns);
                *clock = clock.map(rounded);
            }
        }
        let line: Value = json!({"name": name, "sample": sample});
        let comma = if place == 0 { "" } else { "," };
        lines.push(format!("{comma}{line}"));
    }
    lines.push("]}\n".into());
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/example/fleet.json"));
    fs::write(path, lines.join("\n")).with_context(|| format!("cannot write {}", path.display()))
}

fn samples(files: &[PathBuf]) -> Result<Vec<(String, NodeSample)>, Failure> {
    let (catalogue, plan) = (Installation::find()?.catalogue()?, fleet_plan());
    let sample = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, NodeSample::of(&run_file(path, &catalogue)?, &catalogue, &plan)))
    };
    files.iter().map(sample).collect()
}

fn run_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let all = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths: Vec<PathBuf> = all.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect())
}

/// By name, then by number.
fn order(path: &Path) -> (String, u64) {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match name.rsplit_once('-') {
        Some((kind, number)) => (kind.to_owned(), number.parse().unwrap_or_default()),
        None => (name, 0),
    }
}

fn rounded(ns: f64) -> f64 {
    format!("{ns:.*e}", DIGITS - 1).parse().unwrap_or(ns)
}
