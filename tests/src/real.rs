//! The installation as it was built, with every probe.

use crate::{OWN, Said, untested};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// The real binary with the staged probes, and an empty store. One at a time: two would disturb.
pub struct Real {
    folder: TempDir,
    switchcost: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Real {
    /// None, and the test is untested, where `make build` has not staged any probe.
    ///
    /// # Panics
    /// When the disk refuses.
    #[must_use]
    pub fn new(fake: &str) -> Option<Self> {
        let switchcost = Path::new(fake).with_file_name("switchcost");
        let probes = switchcost.ancestors().nth(2)?.join("libexec/switchcost/probes");
        if !switchcost.is_file() || !probes.is_dir() {
            untested(&format!("{OWN}no probe is staged"));
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { folder: tempfile::tempdir().unwrap(), switchcost, _turn: turn })
    }

    /// Where it keeps what it stores, and looks for the user's probes.
    #[must_use]
    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the binary to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn run(&self, arguments: &str) -> Said {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs it with arguments; those that hold blanks stand between single quotes.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn run_line(&self, line: &str) -> Said {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
        self.command("").args(words).output().unwrap().into()
    }

    /// Rows of `run … --format json`.
    ///
    /// # Panics
    /// When the answer is not JSON.
    #[must_use]
    pub fn rows(&self, arguments: &str) -> Vec<serde_json::Value> {
        self.run(&format!("run {arguments} --format json")).json()["results"].as_array().cloned().unwrap_or_default()
    }
}

/// Times that a row is measured at most whose starts a busy machine let nobody look at.
const ATTEMPTS: u32 = 4;

/// This start shows nothing, for or against its row, and another may: the host looked too late (at
/// it, or at the control that bounds it from below), another program held the CPU that was to idle,
/// or contexts on two CPUs answered before anyone slept.
#[must_use]
pub fn shows_nothing(row: &serde_json::Value) -> bool {
    let reason = row["reason"].as_str().unwrap_or_default();
    row["verdict"] == "unobservable"
        && [
            "allow longer batches",
            "no control that bounds it",
            "did not come about",
            "too few to tell a slowed control",
            "measure again when nothing else runs",
        ]
        .iter()
        .any(|why| reason.contains(why))
        || row["verdict"] == "contradicted" && reason.starts_with("other than the row names")
}

impl Real {
    /// Rows of these mechanisms, of one start each: ten batches of 1 ms. A start that shows nothing
    /// is repeated with batches four times as long, so that the last of its [`ATTEMPTS`] shows
    /// nothing only if the host gets no turn for 0.7 s; what the last one says stands.
    #[must_use]
    pub fn started(&self, names: &str, arguments: &str) -> Vec<serde_json::Value> {
        let mut rows = BTreeMap::new();
        let mut names = names.to_owned();
        for attempt in 0..ATTEMPTS {
            let ms = 4_u32.pow(attempt);
            let plan = format!("--rounds 1 --batches 10 --batch-time {ms}ms --budget 300s");
            for row in self.rows(&format!("{names} {arguments} {plan}")) {
                let key = ["mechanism", "experiment", "parameters"].map(|key| row[key].to_string());
                if rows.get(&key).is_none_or(shows_nothing) {
                    rows.insert(key, row);
                }
            }
            let again = rows.values().filter(|row| shows_nothing(row)).filter_map(|row| row["mechanism"].as_str());
            names = again.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ");
            if names.is_empty() {
                break;
            }
        }
        rows.into_values().collect()
    }

    /// The binary, not started yet.
    #[must_use]
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.switchcost);
        command
            .args(arguments.split_whitespace())
            .env("XDG_DATA_HOME", self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            .env_remove("TERM")
            .env_remove("SWITCHCOST_LIBEXEC")
            .stdin(Stdio::null());
        command
    }
}
