//! Figures of stored runs that were worked out once: a file in the user's cache, for this program,
//! its pages and one percentile.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use switchcost_analysis::{Analysis, At, Row, core, label, usable};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Run, Variant};
use switchcost_session::paths;
use switchcost_store::{RunHeader, Store, StoreError};

/// Files that stay: other percentiles, and the programs and pages of before.
const MOST_FILES: usize = 8;

/// No file is longer: it holds 16 kB a run.
const MOST_BYTES: u64 = 1 << 30;

/// What a trend needs of a row of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The row as it was asked for.
    pub variant: Variant,
    /// Key of the row with all that its page adds.
    pub key: String,
    /// Its label, with the probe.
    pub label: String,
    /// One unit, in a word.
    pub unit: String,
    /// Median of its process runs; where they form modes, it stands for none of them.
    pub median: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// Figure and share of each mode.
    pub modes: Vec<(f64, f64)>,
    /// Process runs.
    pub starts: usize,
    /// What the core gave the run, by this probe's rulers.
    pub core: Option<(String, f64)>,
    /// Why it is not judged.
    pub reason: Option<String>,
}

/// The figures of all rows of a run.
pub fn figures(run: &Run, catalogue: &Catalogue, at: At) -> Vec<Figure> {
    let analysis = Analysis::at(run, catalogue, at);
    let rows = analysis.rows.iter().filter(|row| !row.variant.is_twin());
    rows.filter_map(|row| figure(row, &analysis, catalogue)).collect()
}

fn figure(row: &Row<'_>, analysis: &Analysis<'_>, catalogue: &Catalogue) -> Option<Figure> {
    let (median, interval, modes) = row.figure(row.basis())?;
    let single = modes.is_empty();
    let reason = usable(row)
        .err()
        .or_else(|| row.unsettled())
        .or_else(|| (!single).then(|| "bimodal, so no one figure".to_owned()))
        .or_else(|| interval.is_none().then(|| "no interval".to_owned()));
    Some(Figure {
        variant: row.variant.clone(),
        key: row.full.key(),
        label: label(row.variant, catalogue, true),
        unit: row.unit.clone(),
        median,
        interval: interval.map(|interval| (interval.low, interval.high)),
        modes: modes.iter().map(|mode| (mode.value, mode.weight)).collect(),
        starts: row.starts.len(),
        core: core(&analysis.speeds, &row.variant.probe).map(|(probe, core)| (probe.to_owned(), core)),
        reason,
    })
}

/// The file: a line a run, with its id, the checksum of all that is stored of it, and the figures
/// as JSON.
pub struct Kept {
    path: Option<PathBuf>,
    lines: BTreeMap<String, String>,
    changed: bool,
}

impl Kept {
    /// What is there; nothing if the file cannot be read, or others may have written it.
    pub fn open(catalogue: &Catalogue, how: &impl Hash) -> Self {
        let path = paths::cache("figures").zip(name(catalogue, how)).map(|(folder, name)| folder.join(name));
        let own = |path: &&PathBuf| switchcost_machine::only_owner_writes(path).is_ok();
        let text = path.as_ref().filter(own).and_then(|path| read(path)).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let lines = lines.map(|(key, figures)| (key.to_owned(), figures.to_owned())).collect();
        Self { path, lines, changed: false }
    }

    /// The figures of a run.
    pub fn get(&self, key: &str) -> Option<Vec<Figure>> {
        serde_json::from_str(self.lines.get(key)?).ok()
    }

    /// Keeps what was worked out, unless it would be read as something else, or the run goes on.
    pub fn put(&mut self, header: &RunHeader, key: &str, figures: &[Figure]) {
        let Ok(text) = serde_json::to_string(figures) else { return };
        if !header.partial() && serde_json::from_str::<Vec<Figure>>(&text).is_ok_and(|read| read == figures) {
            self.lines.insert(key.to_owned(), text);
            self.changed = true;
        }
    }

    /// Writes it if anything came, without runs that the store no longer has.
    pub fn save(mut self, store: &Store) {
        let Some(path) = self.path.filter(|_| self.changed) else { return };
        let Ok(all) = store.list() else { return };
        let there: BTreeSet<String> = all.into_iter().map(|header| header.id).collect();
        self.lines.retain(|key, _| key.split('.').next().is_some_and(|id| there.contains(id)));
        let text = self.lines.iter().fold(String::new(), |mut text, (key, figures)| {
            let _ = writeln!(text, "{key} {figures}");
            text
        });
        switchcost_machine::remember(&path, text.as_bytes());
        path.parent().into_iter().for_each(prune);
    }
}

/// What the file holds; None of a pipe or a link that somebody put there, which is neither waited
/// for nor followed.
fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = switchcost_machine::open_file(path).ok()?;
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// By which the figures of a stored run are found: they are of these bytes, in whichever store they
/// lie.
pub fn key(store: &Store, header: &RunHeader) -> Result<String, StoreError> {
    let checksum = store.checksum(&header.id)?;
    Ok(checksum.iter().fold(format!("{}.", header.id), |key, byte| key + &format!("{byte:02x}")))
}

/// Name of the file: another for another program, other pages, or another percentile.
fn name(catalogue: &Catalogue, how: &impl Hash) -> Option<String> {
    let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let mut hasher = DefaultHasher::new();
    (program.modified().ok()?, program.len()).hash(&mut hasher);
    format!("{catalogue:?}").hash(&mut hasher);
    how.hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

/// Removes all but the newest files.
fn prune(folder: &Path) {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> =
        files.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect();
    files.sort();
    let old = files.len().saturating_sub(MOST_FILES);
    files.iter().take(old).for_each(|(_, file)| {
        let _ = fs::remove_file(file);
    });
}
