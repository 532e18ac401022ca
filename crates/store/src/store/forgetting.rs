//! Runs that go for good.

use crate::error::Fault;
use crate::rows;
use rusqlite::{Connection, params};

/// Removes the rows of a run; false if it is not there.
///
/// Those that refer to others go first: SQLite would look for them once for every row that goes.
pub fn remove(connection: &Connection, id: &str) -> Result<bool, Fault> {
    let Some((key, _)) = rows::find_run(connection, id)? else { return Ok(false) };
    for sql in [
        "DELETE FROM samples WHERE invocation IN (SELECT key FROM invocation WHERE run = ?1)",
        "DELETE FROM invocation WHERE run = ?1",
        "DELETE FROM variant WHERE run = ?1",
        "DELETE FROM run WHERE key = ?1",
    ] {
        connection.execute(sql, params![key])?;
    }
    Ok(true)
}

/// Removes what probes said of themselves in runs that are gone.
pub fn remove_unused(connection: &Connection) -> Result<(), Fault> {
    let used = "SELECT hello FROM invocation WHERE hello IS NOT NULL";
    connection.execute(&format!("DELETE FROM hello WHERE key NOT IN ({used})"), [])?;
    Ok(())
}

/// Writes the file anew without the room of what is gone, and cuts off the log.
pub fn give_back(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("VACUUM")?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// Nobody else has the file open: only then SQLite lets go of the log. The caller takes it up
/// again.
pub fn leave_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))
}
