//! Files that a crashed runtime leaves where it stood, which is the installation, or in the folder
//! for temporary files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Beginning and end of their names: the kernel's dump, reports of the JVM, of Node.js and of
/// Erlang, and what valgrind dumps.
const NAMES: [(&str, &str); 7] = [
    ("core", ""),
    ("hs_err_pid", ".log"),
    ("replay_pid", ".log"),
    ("javacore", ".txt"),
    ("report.", ".json"),
    ("erl_crash", ".dump"),
    ("vgcore.", ""),
];

/// The clock of files may be that far behind.
const COARSE: Duration = Duration::from_millis(50);

/// Where a process stands, and since when.
#[derive(Debug)]
pub(super) struct Dropped {
    folder: Option<PathBuf>,
    since: SystemTime,
}

impl Dropped {
    /// A process that begins now.
    pub(super) fn begin(folder: Option<&Path>) -> Self {
        let now = SystemTime::now();
        Self { folder: folder.map(Path::to_owned), since: now.checked_sub(COARSE).unwrap_or(now) }
    }

    /// Removes what has come since then; in the folder that all share only what bears the number of
    /// the process.
    pub(super) fn clear(&self, pid: i32) {
        self.folder.iter().for_each(|folder| self.clear_in(folder, |_| true));
        let number = pid.to_string();
        let own = |name: &str| name.split(|c: char| !c.is_ascii_digit()).any(|part| part == number.as_str());
        // The JVM takes it whatever TMPDIR says.
        let temporary = [std::env::temp_dir(), PathBuf::from("/tmp")];
        let each = if temporary[0] == temporary[1] { 1 } else { 2 };
        temporary.iter().take(each).for_each(|folder| self.clear_in(folder, own));
    }

    fn clear_in(&self, folder: &Path, own: impl Fn(&str) -> bool + Copy) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let known = name.to_str().is_some_and(|name| is_dropped(name) && own(name));
            let new = || entry.metadata().ok().filter(|data| data.is_file())?.modified().ok();
            if known && new().is_some_and(|modified| modified >= self.since) {
                // What may not be removed was left by another user's process.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// `core` and `core.4711`, but not `core.rs`.
fn is_dropped(name: &str) -> bool {
    let dump = |rest: &str| rest.is_empty() || rest.strip_prefix('.').is_some_and(is_number);
    NAMES.iter().any(|(begin, end)| match name.strip_prefix(begin) {
        Some(rest) if *begin == "core" => dump(rest),
        Some(rest) => rest.ends_with(end),
        None => false,
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_crash_left_since_then_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), "x").unwrap();
        write("core");
        std::thread::sleep(COARSE * 3);
        let dropped = Dropped::begin(Some(folder.path()));
        let left = ["core.rs", "corelib", "main.js", "report.html"];
        let gone = ["core.12", "hs_err_pid12.log", "report.2026.12.0.001.json", "erl_crash.dump", "vgcore.12"];
        left.iter().chain(&gone).for_each(|name| write(name));
        std::fs::create_dir(folder.path().join("core.7")).unwrap();
        dropped.clear(12);
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|one| one.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["core", "core.7", "core.rs", "corelib", "main.js", "report.html"]);
    }
}
