//! What `audit --format json` printed, kept in a file, for a page.

use std::io::Read;
use std::path::Path;
use switchcost_report::AuditAnswer;
use switchcost_session::Failure;

/// A file of more is not an answer of `audit`.
const MOST_BYTES: u64 = 16 << 20;

/// Is this operand such a file? Files of runs are named `*.jsonl`.
pub fn is_one(text: &str) -> bool {
    text.ends_with(".json") && Path::new(text).is_file()
}

/// Reads it.
pub fn read(path: &Path) -> Result<AuditAnswer, Failure> {
    let unreadable =
        |reason: &dyn std::fmt::Display| Failure::usage(format!("{} cannot be read: {reason}", path.display()));
    let file = switchcost_machine::open_file(path).map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(unreadable(&format!("it is larger than {} MiB", MOST_BYTES >> 20)));
    }
    let text = switchcost_model::decoded(&bytes).map_err(|what| unreadable(&what))?;
    AuditAnswer::parse(&text).map_err(|reason| {
        Failure::usage(format!(
            "{}: {reason}; a page takes run files (*.jsonl) and what `switchcost audit --format json` prints (*.json)",
            path.display()
        ))
    })
}
