//! What a virtual machine says: lines of its first process (`probes/native/guest/init.c`) that begin with `@`, of the probe, of the emulator's plugin, and of a
//! kernel that panics. Everything else is the firmware's.

use std::collections::BTreeMap;
use switchcost_model::{Transcript, harmless};
use switchcost_protocol::RunReader;

/// Most bytes of one machine: symbols and counts of instructions are some tens of megabytes.
const MOST: usize = 512 << 20;

/// One start of the probe.
#[derive(Debug, Default)]
pub struct Start {
    /// Its place in the plan.
    pub tag: usize,
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
    /// Names of facts, such as `uname`, with their words.
    pub facts: BTreeMap<String, String>,
    /// What was refused to the first process.
    pub refused: Vec<String>,
    /// Starts of the probe.
    pub starts: Vec<Start>,
    /// Functions by address.
    pub symbols: BTreeMap<u64, String>,
    /// A kernel's last words.
    pub panic: Option<String>,
    /// It came to its end.
    pub whole: bool,
    /// Its last line.
    pub last: String,
    /// Its first line.
    pub first: String,
    reader: RunReader,
    pending: Vec<u8>,
    bytes: usize,
}

impl Said {
    /// Takes bytes as they come.
    ///
    /// # Errors
    /// There are too many.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.bytes += bytes.len();
        if self.bytes > MOST {
            return Err("it does not stop talking".to_owned());
        }
        self.pending.extend_from_slice(bytes);
        let Some(end) = self.pending.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let whole: Vec<u8> = self.pending.drain(..=end).collect();
        String::from_utf8_lossy(&whole).lines().for_each(|line| self.line(line.trim()));
        Ok(())
    }

    fn line(&mut self, line: &str) {
        if line.starts_with('{') {
            // A fault stays in the transcript, which says it.
            let _ = self.reader.push(format!("{line}\n").as_bytes());
        } else if let Some(said) = line.strip_prefix('@') {
            let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
            self.word(word, rest);
        } else if let Some((_, why)) = line.split_once("Kernel panic - not syncing: ") {
            self.panic = Some(harmless(why));
        }
        if !line.is_empty() {
            self.last = harmless(line);
            if self.first.is_empty() {
                self.first.clone_from(&self.last);
            }
        }
    }

    fn word(&mut self, word: &str, rest: &str) {
        let pair = rest.split_once(' ').unwrap_or((rest, ""));
        let address = || u64::from_str_radix(pair.0, 16).ok();
        match word {
            "i" => {
                if let (Some(start), Some(address), Ok(count)) = (self.starts.last_mut(), address(), pair.1.parse()) {
                    start.instructions.insert(address, count);
                }
            }
            "symbol" => self.symbols.extend(address().map(|address| (address, pair.1.to_owned()))),
            "row" => {
                self.reader = RunReader::default();
                self.starts.push(Start { tag: rest.parse().unwrap_or(usize::MAX), ..Start::default() });
            }
            "cgroup" => {
                if let Some(start) = self.starts.last_mut() {
                    let path = rest.strip_prefix("0::/");
                    start.depth = path.map(|path| path.split('/').filter(|part| !part.is_empty()).count());
                }
            }
            "done" => {
                if let Some(start) = self.starts.last_mut() {
                    start.transcript = std::mem::take(&mut self.reader).into_transcript();
                    start.status = pair.1.parse().ok();
                }
            }
            "no" => self.refused.push(harmless(rest)),
            "end" => self.whole = true,
            _ => drop(self.facts.insert(word.to_owned(), harmless(rest))),
        }
    }
}
