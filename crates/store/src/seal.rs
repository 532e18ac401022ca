//! Checksums: SQLite has none, so that a flipped bit would change a figure without a word.
//!
//! They are taken of what stands in the columns, not of what we make of it: code may change, what
//! was stored does not. A NULL adds nothing, so that columns may be appended to a list without a
//! stored checksum becoming wrong.

use crate::cells::{Cells, Query};
use crate::error::Fault;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

/// Bytes that are kept of a SHA-256: chance is to be found, not a forger, who could make a new one.
const LENGTH: usize = 16;

/// Columns of a run in the order of its checksum; new ones are appended.
#[rustfmt::skip]
const RUN: &[&str] = &[
    "key", "id", "started_unix_ns", "ended_unix_ns", "ended_by", "seed", "tool_version", "method_version", "command", "precision_ppm", "budget_ms",
    "stable", "drifting", "personal", "findings", "request", "invocations",
];

/// The same of a variant.
#[rustfmt::skip]
const VARIANT: &[&str] = &[
    "position", "mechanism", "probe", "experiment", "contexts", "placement", "timing", "parameters", "label", "not_run",
];

/// Variants of a run.
pub const VARIANTS: &str = "SELECT * FROM variant WHERE run = ?1 ORDER BY position";

/// What a checksum is made of: small pieces, which are hashed at once.
#[derive(Default)]
pub struct Seal(Vec<u8>);

impl Seal {
    /// Adds columns of a row, in this order.
    pub fn add(&mut self, row: &Cells<'_>, columns: &[&str]) -> Result<(), Fault> {
        self.0.extend_from_slice(b"row");
        for (place, column) in (0_u64..).zip(columns) {
            let number;
            let (kind, bytes): (u8, &[u8]) = match row.value(column)? {
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
            self.0.extend_from_slice(&place.to_le_bytes());
            self.0.push(kind);
            self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            self.0.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// The checksum of what was added since the last one.
    pub fn finish(&mut self) -> Vec<u8> {
        let checksum = Sha256::digest(&self.0).iter().copied().take(LENGTH).collect();
        self.0.clear();
        checksum
    }
}

/// Of a run's row and its variants.
fn of_run(connection: &Connection, key: i64) -> Result<Vec<u8>, Fault> {
    let mut seal = Seal::default();
    Query::new(connection, "SELECT * FROM run WHERE key = ?1")?.rows([key], |row| seal.add(row, RUN))?;
    Query::new(connection, VARIANTS)?.rows([key], |row| seal.add(row, VARIANT))?;
    Ok(seal.finish())
}

/// Of a run with all its invocations, from their checksums.
pub fn of_whole(connection: &Connection, key: i64) -> Result<Vec<u8>, Fault> {
    let mut seal = Seal::default();
    for sql in
        ["SELECT checksum FROM run WHERE key = ?1", "SELECT checksum FROM invocation WHERE run = ?1 ORDER BY position"]
    {
        Query::new(connection, sql)?.rows([key], |row| seal.add(row, &["checksum"]))?;
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
    let sql = "SELECT checksum, invocations, (SELECT count(*) FROM invocation WHERE run = run.key) AS found FROM run WHERE key = ?1";
    Query::new(connection, sql)?.rows([key], |row| {
        if row.get::<Option<Vec<u8>>>("checksum")? != Some(of_run(connection, key)?) {
            return Err(Fault::Unreadable("its description is not as it was stored".to_owned()));
        }
        let (stored, found): (Option<i64>, i64) = (row.get("invocations")?, row.get("found")?);
        match stored {
            Some(stored) if stored != found => {
                Err(Fault::Unreadable(format!("it has {found} invocations where {stored} were stored")))
            }
            _ => Ok(()),
        }
    })?;
    Ok(())
}
