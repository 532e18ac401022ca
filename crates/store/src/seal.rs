//! Checksums: SQLite has none, so that a flipped bit would change a figure without a word.
//!
//! They are taken of what stands in the columns, not of what we make of it: code may change, what was stored does not. A NULL adds nothing, so that
//! columns may be appended to a list without a stored checksum becoming wrong.

use crate::error::Fault;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use sha2::{Digest, Sha256};

/// Bytes that are kept of a SHA-256: chance is to be found, not a forger, who could make a new one.
const LENGTH: usize = 16;

/// Columns of a run in the order of its checksum; new ones are appended.
const RUN: &str = "SELECT key, id, started_unix_ns, ended_unix_ns, ended_by, seed, tool_version, method_version, command, precision_ppm, budget_ms, stable,
                          drifting, personal, findings, request, invocations
                   FROM run WHERE key = ?1";

/// The same for its variants.
const VARIANTS: &str =
    "SELECT position, mechanism, probe, experiment, contexts, placement, timing, parameters, label, not_run
                        FROM variant WHERE run = ?1 ORDER BY position";

/// A checksum in the making.
#[derive(Default)]
pub struct Seal(Sha256);

impl Seal {
    /// Adds the columns of a row, the first `skipped` left out.
    pub fn add(&mut self, row: &Row<'_>, skipped: usize) -> rusqlite::Result<()> {
        self.0.update(b"row");
        for column in skipped..row.as_ref().column_count() {
            let number;
            let (kind, bytes): (u8, &[u8]) = match row.get_ref(column)? {
                ValueRef::Null => continue,
                ValueRef::Integer(value) => {
                    number = value.to_le_bytes();
                    (b'i', &number)
                }
                ValueRef::Real(value) => {
                    number = value.to_le_bytes();
                    (b'r', &number)
                }
                ValueRef::Text(bytes) => (b't', bytes),
                ValueRef::Blob(bytes) => (b'b', bytes),
            };
            self.0.update(((column - skipped) as u64).to_le_bytes());
            self.0.update([kind]);
            self.0.update((bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        }
        Ok(())
    }

    /// The checksum of what was added.
    pub fn finish(self) -> Vec<u8> {
        self.0.finalize().iter().copied().take(LENGTH).collect()
    }
}

/// Of a run's row and its variants.
fn of_run(connection: &Connection, key: i64) -> Result<Vec<u8>, Fault> {
    let mut seal = Seal::default();
    for sql in [RUN, VARIANTS] {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([key])?;
        while let Some(row) = rows.next()? {
            seal.add(row, 0)?;
        }
    }
    Ok(seal.finish())
}

/// Writes a run's checksum.
pub fn seal_run(connection: &Connection, key: i64) -> Result<(), Fault> {
    let checksum = of_run(connection, key)?;
    connection.prepare_cached("UPDATE run SET checksum = ?2 WHERE key = ?1")?.execute(params![key, checksum])?;
    Ok(())
}

/// Refuses a run that is not as it was stored.
pub fn check_run(connection: &Connection, key: i64) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT checksum, invocations, (SELECT count(*) FROM invocation WHERE run = run.key) FROM run WHERE key = ?1",
    )?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let (checksum, told, there): (Option<Vec<u8>>, Option<i64>, i64) = statement.query_row([key], read)?;
    if checksum != Some(of_run(connection, key)?) {
        return Err(Fault::Unreadable("its description is not as it was stored".to_owned()));
    }
    match told {
        Some(told) if told != there => {
            Err(Fault::Unreadable(format!("it has {there} invocations where {told} were stored")))
        }
        _ => Ok(()),
    }
}
