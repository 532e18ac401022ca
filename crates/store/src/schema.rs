//! The form of the store file: whose file it is, and which version.

use crate::error::{Fault, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// `PRAGMA application_id` of every store: "swct". It tells our file from any other SQLite file.
pub const APPLICATION_ID: i32 = 0x7377_6374;

/// `PRAGMA user_version` of every store that this crate reads. The first release did not begin at 1
/// again: a store of its development would pass for one of today's.
const VERSION: i64 = 7;

/// Refuses a file that is not ours or has another version. False: nothing is in it yet.
///
/// Reads only: a refused file is not touched. Reads in one transaction: while another process makes
/// the store, ours would look foreign if it were seen half empty and half made.
pub fn is_made(connection: &Connection, path: &Path) -> Result<bool, Fault> {
    is_made_within(&connection.unchecked_transaction()?, path)
}

fn is_made_within(transaction: &Transaction<'_>, path: &Path) -> Result<bool, Fault> {
    let number = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application_id: i32 = transaction.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let found = number("PRAGMA user_version")?;
    let path = path.to_path_buf();
    match (application_id, found) {
        (0 | APPLICATION_ID, 0) if number("SELECT count(*) FROM sqlite_schema")? == 0 => Ok(false),
        (APPLICATION_ID, VERSION) => is_text(transaction).map(|()| true),
        (APPLICATION_ID, ..VERSION) => Err(StoreError::OlderSchema { path, found, known: VERSION }.into()),
        (APPLICATION_ID, _) => Err(StoreError::NewerSchema { path, found, known: VERSION }.into()),
        _ => Err(StoreError::ForeignFile { path, application_id }.into()),
    }
}

/// Refuses a damaged schema: the library takes names of columns for text and panics where they are
/// not.
fn is_text(transaction: &Transaction<'_>) -> Result<(), Fault> {
    let mut statement = transaction.prepare("SELECT sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if std::str::from_utf8(row.get_ref(0)?.as_bytes_or_null().ok().flatten().unwrap_or_default()).is_err() {
            return Err(Fault::Unreadable("its schema is not text".to_owned()));
        }
    }
    Ok(())
}

/// Makes the tables of an empty file.
///
/// Asks again inside the transaction whether it is empty: two processes may open a new file at the
/// same time.
pub fn make(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if is_made_within(&transaction, path)? {
        return Ok(());
    }
    transaction.execute_batch(include_str!("schema.sql"))?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}
