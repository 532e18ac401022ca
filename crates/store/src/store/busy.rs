//! Waiting for others who have the file.

use rusqlite::{Connection, ErrorCode};
use std::time::{Duration, Instant};

/// How long a writer waits for another. Transactions take milliseconds, so longer means that
/// something hangs.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Changing the journal needs the file for itself and does not wait for it: two hosts that make one
/// new store at the same time would fail here without the repetition.
pub fn switch_to_log(connection: &Connection) -> rusqlite::Result<()> {
    until_free(|| connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())))
}

/// Does it as soon as nobody else has the file, at the latest when a writer would give up.
pub fn until_free(work: impl Fn() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    let started = Instant::now();
    loop {
        match work() {
            Err(error) if is_busy(&error) && started.elapsed() < BUSY_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
