//! Two revisions of a repository: each is checked out in a folder of its own, built there, and goes
//! when it was measured.

use super::arguments::Compare;
use super::builds::Builds;
use crate::programs::{OF_A_HOOK, run};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use switchcost_machine::interrupt::Interrupt;
use switchcost_model::harmless_lines;
use switchcost_session::{Failure, output, paths, random_number};

/// Lines of a failed build that are shown.
const LAST_LINES: usize = 20;

/// Bytes of what a program prints that are kept.
const KEPT: usize = 64 << 10;

/// No build takes longer.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// The file in a folder of revisions that is locked as long as somebody uses it.
const LOCK: &str = "lock";

/// Revisions that lie in folders until this is dropped.
pub struct Revisions {
    /// The repository's own work tree.
    top: PathBuf,
    folder: PathBuf,
    /// Folders that git knows of.
    trees: Vec<PathBuf>,
    keep: bool,
    interrupt: Interrupt,
    lock: Option<File>,
    /// The probe of each.
    pub builds: Builds,
    /// Which commit is A, and which B.
    pub sentence: String,
}

impl Revisions {
    /// Checks out and builds both ends of a range.
    pub fn build(arguments: &Compare, range: &str) -> Result<Self, Failure> {
        let given = &arguments.measure;
        let [probe] = given.probe.as_slice() else {
            return Err(Failure::usage(
                "--git: name the probe's folder in the repository once, as --probe build/probe",
            ));
        };
        let refused = |reason: &str| Failure::usage(format!("--git {range}: {reason}"));
        if probe.is_absolute() {
            return Err(refused("--probe is a path within the repository, such as build/probe"));
        }
        let ends = range.split_once("..").filter(|(_, end)| !end.starts_with('.'));
        let (first, second) = ends.ok_or_else(|| refused("it is two revisions with .. between, such as main..HEAD"))?;
        let ends = [first, second].map(|end| if end.is_empty() { "HEAD" } else { end });
        let interrupt =
            Interrupt::on_request().map_err(|error| Failure::refused("signals cannot be waited for", error))?;
        let here = std::env::current_dir().map_err(|error| refused(&format!("there is no folder here ({error})")))?;
        let git = |words: &[&str]| run("git", words, &here, PATIENCE, KEPT, &interrupt);
        let top = git(&["rev-parse", "--show-toplevel"])?
            .ok_or(|_: &str| refused("this folder is in no work tree of git"))?;
        let within = git(&["rev-parse", "--show-prefix"])?.text;
        let mut commits = Vec::new();
        for end in ends {
            let wanted = format!("{end}^{{commit}}");
            let found = git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])?;
            commits.push(found.ok_or(|_: &str| refused(&format!("git knows no revision `{end}` here")))?);
        }
        let changes = git(&["status", "--porcelain", "--untracked-files=no"])?.text;
        if let Some(file) = changes.lines().next().map(|line| line.get(3..).unwrap_or(line)) {
            let count = changes.lines().count();
            let others = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            return Err(refused(&format!("{file}{others} has changes that no commit has; commit or stash them")));
        }
        let (folder, lock) = place().map_err(|reason| refused(&reason))?;
        let names = [0, 1].map(|side| format!("{}:{}", brief(&commits[side]), probe.display()));
        let sides = ["a", "b"].map(|side| folder.join(side));
        let folders = sides.clone().map(|side| side.join(within.trim()).join(probe));
        let builds = Builds { folders, names };
        let (top, trees, keep) = (PathBuf::from(top), Vec::new(), given.keep);
        let sentence = format!("A is {} ({}), B is {} ({}).", ends[0], brief(&commits[0]), ends[1], brief(&commits[1]));
        let mut revisions = Self { top, folder, trees, keep, interrupt, lock: Some(lock), builds, sentence };
        for ((side, commit), end) in sides.into_iter().zip(&commits).zip(ends) {
            revisions.check_out(&side, commit).map_err(|reason| refused(&reason.sentence))?;
            if let Some(command) = &given.build {
                output::say(&format!("building {end} ({})", brief(commit)));
                revisions.make(command, &side.join(within.trim()), end)?;
            }
            if !side.join(within.trim()).join(probe).is_dir() {
                let probe = probe.display();
                return Err(refused(&format!(
                    "{end} has no folder {probe} once it is built; name the probe's by --probe"
                )));
            }
        }
        Ok(revisions)
    }

    fn check_out(&mut self, side: &Path, commit: &str) -> Result<(), Failure> {
        let path = side.display().to_string();
        // What git says of it is on no terminal, and its hooks are not of this.
        let words = ["-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", "--force", &path, commit];
        self.trees.push(side.to_owned());
        let said = run("git", &words, &self.top, PATIENCE, KEPT, &self.interrupt)?;
        said.ok_or(|text| Failure::usage(format!("git cannot check it out: {}", last(text, 1)))).map(drop)
    }

    fn make(&self, command: &str, folder: &Path, end: &str) -> Result<(), Failure> {
        let said = run("sh", &["-c", command], folder, PATIENCE, KEPT, &self.interrupt)?;
        said.ok_or(|text| {
            output::say(&harmless_lines(&last(text, LAST_LINES), false));
            Failure::usage(format!("--build `{command}` fails for {end}; its last lines stand above"))
        })
        .map(drop)
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        if self.keep {
            let kept = self.trees.iter().map(|tree| tree.display().to_string()).collect::<Vec<_>>().join(" and ");
            output::say(&format!("kept: {kept}; `git worktree remove --force FOLDER` removes one"));
            // What is locked by nobody is removed by the next.
            let _ = std::fs::remove_file(self.folder.join(LOCK));
            return;
        }
        drop(self.lock.take());
        let _ = std::fs::remove_dir_all(&self.folder);
        // Git forgets what is gone. It is not to be stopped by the Ctrl-C that ended the rest.
        let mut prune = std::process::Command::new("git");
        for name in OF_A_HOOK {
            prune.env_remove(name);
        }
        let _ = prune.args(["worktree", "prune", "--expire", "now"]).current_dir(&self.top).status();
    }
}

/// As much of a commit's name as people read.
fn brief(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// The last lines that say something.
fn last(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// A new folder in the user's cache, with its lock; those that a killed command left are removed.
fn place() -> Result<(PathBuf, File), String> {
    let cache = paths::cache("revisions").ok_or("there is no folder for it: set XDG_CACHE_HOME or HOME")?;
    let cannot = |error: std::io::Error| format!("{} cannot be written: {error}", cache.display());
    std::fs::create_dir_all(&cache).map_err(cannot)?;
    for entry in std::fs::read_dir(&cache).map_err(cannot)?.flatten() {
        // Without a lock it is kept.
        let free = File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok());
        if free {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let folder = cache.join(format!("{:016x}", random_number()));
    std::fs::create_dir(&folder).map_err(cannot)?;
    let lock = File::create(folder.join(LOCK)).map_err(cannot)?;
    lock.try_lock().map_err(|error| cannot(error.into()))?;
    Ok((folder, lock))
}
