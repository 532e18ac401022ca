//! Where facts are read: this machine, or a tree of files in a test.

use super::sys::{self, Leaf};
pub(crate) use crate::cause::cause;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
pub(crate) use switchcost_model::unknown;

/// A machine to read facts from.
pub(crate) struct Host {
    root: PathBuf,
    cpuid: fn(u32) -> Option<Leaf>,
}

impl Host {
    /// The machine this runs on.
    pub(crate) fn real() -> Self {
        Self { root: PathBuf::from("/"), cpuid: sys::cpuid }
    }

    /// A machine made of files, whose CPU has nothing to say.
    #[cfg(test)]
    pub(crate) fn fake(root: &Path) -> Self {
        Self { root: root.to_owned(), cpuid: |_| None }
    }

    /// The file's path under the root.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The file's text without white space around it.
    ///
    /// # Errors
    /// One clause that names file and cause.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Result<String, String> {
        self.text(&path).map_err(|cause| format!("{} cannot be read: {cause}", path.as_ref().display()))
    }

    /// The same.
    ///
    /// # Errors
    /// The cause alone.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Result<String, String> {
        let bytes = std::fs::read(self.path(path)).map_err(|error| cause(&error))?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// A file that holds one number.
    ///
    /// # Errors
    /// One clause that names file and cause.
    pub(crate) fn number(&self, path: &str) -> Result<i64, String> {
        let text = self.read(path)?;
        text.parse().map_err(|_| format!("{path} holds `{text}`, not a number"))
    }

    /// The file's text as a fact: never empty.
    pub(crate) fn fact(&self, path: &str) -> String {
        match self.read(path) {
            Ok(text) if text.is_empty() => unknown(format!("{path} is empty")),
            Ok(text) => text,
            Err(reason) => unknown(reason),
        }
    }

    /// Is there such a file or directory?
    pub(crate) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }

    /// Names in a directory, sorted; empty when it cannot be read.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// What a symbolic link says.
    pub(crate) fn link(&self, path: &str) -> Option<String> {
        std::fs::read_link(self.path(path)).ok()?.into_os_string().into_string().ok()
    }

    /// Whether `/proc` numbers processes as this one does, or is not there.
    pub(crate) fn has_own_ids(&self) -> bool {
        let own = rustix::process::getpid().as_raw_pid().to_string();
        self.link("/proc/self").is_none_or(|id| id == own)
    }

    /// The word in square brackets of a file such as `always [madvise] never`.
    pub(crate) fn chosen(&self, path: &str) -> String {
        let text = self.fact(path);
        match text.split_once('[').and_then(|(_, rest)| rest.split_once(']')) {
            Some((word, _)) => word.to_owned(),
            None => text,
        }
    }

    /// A leaf of cpuid; None where the CPU has none or the machine is made of files.
    pub(crate) fn cpuid(&self, leaf: u32) -> Option<Leaf> {
        (self.cpuid)(leaf)
    }

    /// The first block of `/proc/cpuinfo`.
    pub(crate) fn cpuinfo(&self) -> BTreeMap<String, String> {
        let text = self.read("/proc/cpuinfo").unwrap_or_default();
        pairs(text.split("\n\n").next().unwrap_or_default())
    }

    /// `/proc/self/status`.
    pub(crate) fn status(&self) -> BTreeMap<String, String> {
        self.status_of("self")
    }

    /// The same of another process; empty if it cannot be read.
    pub(crate) fn status_of(&self, pid: &str) -> BTreeMap<String, String> {
        pairs(&self.read(format!("/proc/{pid}/status")).unwrap_or_default())
    }

    /// What a process is called.
    pub(crate) fn process(&self, pid: &str) -> String {
        self.read(format!("/proc/{pid}/comm")).unwrap_or_else(|_| format!("process {pid}"))
    }

    /// CPUs that are online; empty when unknown.
    pub(crate) fn online(&self) -> Vec<u32> {
        let listed = self.read("/sys/devices/system/cpu/online").ok();
        listed.and_then(|text| crate::list::parse(&text)).unwrap_or_default()
    }

    /// A file of each online CPU, the distinct texts sorted; empty when no CPU has it.
    pub(crate) fn each_cpu(&self, file: &str) -> Vec<String> {
        let read = |cpu: &u32| self.read(format!("/sys/devices/system/cpu/cpu{cpu}/{file}")).ok();
        let mut texts: Vec<String> = self.online().iter().filter_map(read).collect();
        texts.sort();
        texts.dedup();
        texts
    }
}

/// `name : value` lines.
fn pairs(text: &str) -> BTreeMap<String, String> {
    let pair = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    text.lines().filter_map(pair).collect()
}
