//! The shape of the store file: whose file it is, which version, and how an older one is brought up to date.

use crate::error::{Fault, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// `PRAGMA application_id` of every store: "swct". It tells our file from any other SQLite file.
pub const APPLICATION_ID: i32 = 0x7377_6374;

/// Step k (from 0) brings a file from version k to version k + 1. Steps are only ever appended.
pub const MIGRATIONS: &[&str] = &[
    include_str!("schema/v1.sql"),
    include_str!("schema/v2.sql"),
    include_str!("schema/v3.sql"),
    include_str!("schema/v4.sql"),
    include_str!("schema/v5.sql"),
    include_str!("schema/v6.sql"),
];

/// What a file says of itself.
struct Identity {
    application_id: i32,
    version: i64,
    /// Nothing is in it yet.
    blank: bool,
}

fn identity(connection: &Connection) -> rusqlite::Result<Identity> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    Ok(Identity {
        application_id: connection.query_row("PRAGMA application_id", [], |row| row.get(0))?,
        version: number("PRAGMA user_version")?,
        blank: number("SELECT count(*) FROM sqlite_schema")? == 0,
    })
}

/// Refuses a file that is not ours or too new; otherwise its version, 0 for an empty file.
///
/// Reads only: a foreign file is not touched. Reads in one transaction: while another process makes the store, ours
/// would look foreign if it were seen half empty and half made.
pub fn version(connection: &Connection, path: &Path, known: usize) -> Result<usize, Fault> {
    let transaction = connection.unchecked_transaction()?;
    version_within(&transaction, path, known)
}

fn version_within(transaction: &Transaction<'_>, path: &Path, known: usize) -> Result<usize, Fault> {
    let path = path.to_path_buf();
    let Identity { application_id, version, blank } = identity(transaction)?;
    if application_id == 0 && version == 0 && blank {
        return Ok(0);
    }
    if application_id != APPLICATION_ID {
        return Err(StoreError::ForeignFile { path, application_id }.into());
    }
    match usize::try_from(version) {
        Ok(version) if version <= known => Ok(version),
        _ => Err(StoreError::NewerSchema { path, found: version, known: known as i64 }.into()),
    }
}

/// Brings the file to the last of these versions, all steps in one transaction.
///
/// The version is read again inside the transaction: two processes may open a new file at the same time.
pub fn migrate(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<(), Fault> {
    if version(connection, path, migrations.len())? == migrations.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from = version_within(&transaction, path, migrations.len())?;
    for step in migrations.iter().skip(from) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: &str = "ALTER TABLE run ADD COLUMN mood TEXT; UPDATE run SET mood = 'of ' || id;";

    fn migrated(migrations: &[&str]) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("x"), migrations).unwrap();
        connection
    }

    fn insert(connection: &Connection) {
        connection
            .execute_batch(
                "INSERT INTO run (key, id, started_unix_ns, ended_unix_ns, ended_by, seed, tool_version, method_version, \
                 command, precision_ppm, budget_ms, stable, drifting, personal, findings) VALUES (1, 'a', 0, NULL, 'unfinished', 0, '', 0, '[]', 0, 0, '{}', '{}', '{}', '[]')",
            )
            .unwrap();
    }

    #[test]
    fn every_older_version_migrates_and_keeps_its_rows() {
        let all: Vec<&str> = MIGRATIONS.iter().copied().chain([SECOND]).collect();
        for from in 0..=all.len() {
            let mut connection = migrated(&all[..from]);
            if (1..=MIGRATIONS.len()).contains(&from) {
                insert(&connection);
            }
            migrate(&mut connection, Path::new("x"), &all).unwrap();
            assert_eq!(version(&connection, Path::new("x"), all.len()).unwrap(), all.len());
            let moods: Vec<String> = connection
                .prepare("SELECT mood FROM run")
                .unwrap()
                .query_map([], |row| row.get(0))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            let expected = if (1..=MIGRATIONS.len()).contains(&from) { vec!["of a"] } else { vec![] };
            assert_eq!(moods, expected, "from version {from}");
        }
    }

    #[test]
    fn a_step_that_fails_leaves_the_old_version() {
        let mut connection = migrated(MIGRATIONS);
        insert(&connection);
        let broken: Vec<&str> = MIGRATIONS.iter().copied().chain(["DELETE FROM run; DROP TABLE nonsense;"]).collect();
        assert!(matches!(migrate(&mut connection, Path::new("x"), &broken), Err(Fault::Sql(_))));
        assert_eq!(version(&connection, Path::new("x"), broken.len()).unwrap(), MIGRATIONS.len());
        assert_eq!(connection.query_row("SELECT count(*) FROM run", [], |row| row.get(0)), Ok(1));
    }
}
