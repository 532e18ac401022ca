//! What a virtual machine says: lines of its first process (`probes/native/guest/init.c`) that
//! begin with `@`, of the probe, of the emulator's plugin, and of a kernel that panics. Everything
//! else is the firmware's.

use std::collections::BTreeMap;
use switchcost_model::{Transcript, harmless};
use switchcost_protocol::RunReader;

/// Most bytes of one machine: symbols and counts of instructions are some tens of megabytes.
pub const MOST: usize = 512 << 20;

/// One start of the probe.
#[derive(Debug, Default)]
pub struct Start {
    /// The row that it is of.
    pub row: usize,
    /// Levels of control groups above it, as its own /proc/self/cgroup says; None: it does not.
    pub depth: Option<usize>,
    /// What it said.
    pub transcript: Transcript,
    /// Instructions by address, between the marks around it; none without the plugin.
    pub instructions: BTreeMap<u64, u64>,
    /// How it ended; None: the machine ended first.
    pub status: Option<i32>,
}

/// All that a machine said.
#[derive(Debug, Default)]
pub struct Said {
    /// Names of facts, such as `uname`, with their words. `no`: what was refused to the first
    /// process last; `panic`: a kernel's last words; `end`: it came to its end.
    pub facts: BTreeMap<String, String>,
    /// Starts of the probe.
    pub starts: Vec<Start>,
    /// Functions by address.
    pub symbols: BTreeMap<u64, String>,
    /// Its last line.
    pub last: String,
    /// Its first line.
    pub first: String,
    /// Length of all.
    pub bytes: usize,
    reader: RunReader,
    pending: Vec<u8>,
}

impl Said {
    /// Takes bytes as they come.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.pending.extend_from_slice(bytes);
        let Some(end) = self.pending.iter().rposition(|byte| *byte == b'\n') else { return };
        let whole: Vec<u8> = self.pending.drain(..=end).collect();
        let text = String::from_utf8_lossy(&whole);
        text.lines().map(str::trim).filter(|line| !line.is_empty()).for_each(|line| self.line(line));
    }

    fn line(&mut self, line: &str) {
        if line.starts_with('{') {
            // A fault stays in the transcript, which says it.
            let _ = self.reader.push(format!("{line}\n").as_bytes());
        } else if let Some(said) = line.strip_prefix('@') {
            let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
            self.word(word, rest);
        } else if let Some((_, why)) = line.split_once("Kernel panic - not syncing: ") {
            self.facts.insert("panic".to_owned(), harmless(why));
        }
        self.last = harmless(line);
        if self.first.is_empty() {
            self.first.clone_from(&self.last);
        }
    }

    fn word(&mut self, word: &str, rest: &str) {
        let (one, other) = rest.split_once(' ').unwrap_or((rest, ""));
        let levels = |path: &str| path.trim_end_matches('/').matches('/').count();
        let address = u64::from_str_radix(one, 16).ok();
        match (word, self.starts.last_mut()) {
            ("row", _) => {
                self.reader = RunReader::default();
                self.starts.push(Start { row: rest.parse().unwrap_or(usize::MAX), ..Start::default() });
            }
            ("i", Some(start)) => start.instructions.extend(address.zip(other.parse().ok())),
            ("symbol", _) => self.symbols.extend(address.map(|address| (address, other.to_owned()))),
            ("cgroup", Some(start)) => start.depth = rest.strip_prefix("0::").map(levels),
            ("done", Some(start)) => {
                start.transcript = std::mem::take(&mut self.reader).into_transcript();
                start.status = other.parse().ok();
            }
            _ => drop(self.facts.insert(word.to_owned(), harmless(rest))),
        }
    }
}
