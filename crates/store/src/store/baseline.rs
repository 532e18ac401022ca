//! Baselines: names that people give to runs, so that later ones can be compared with them.

use super::Store;
use crate::error::Fault;
use crate::{StoreError, rows};
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;
use switchcost_model::harmless;

/// What a run is called by in place of its id: `baseline:NAME`.
pub const PREFIX: &str = "baseline:";

/// Longest name.
const MAX_NAME: usize = 64;

/// A named run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// Its name.
    pub name: String,
    /// Id of the run.
    pub run: String,
    /// When it was named, ns since 1970 UTC.
    pub set_unix_ns: i64,
    /// The run is no longer in the store.
    pub gone: bool,
}

impl Store {
    /// Gives the name to the run that `selector` names; returns the run's id.
    ///
    /// # Errors
    /// When the name is not a name, belongs to another run and `replace` is false, there is no such run, or writing fails.
    pub fn set_baseline(
        &mut self,
        name: &str,
        selector: &str,
        replace: bool,
        now_unix_ns: i64,
    ) -> Result<String, StoreError> {
        check_name(name)?;
        let run = self.resolve(selector)?;
        let path = self.path.clone();
        self.write(|transaction| {
            match find(transaction, name)? {
                Some(taken) if taken.run == run => return Ok(()),
                Some(taken) if !replace => {
                    return Err(StoreError::BaselineTaken { path, name: name.to_owned(), run: taken.run }.into());
                }
                _ => {}
            }
            transaction
                .execute("INSERT OR REPLACE INTO baseline VALUES (?1, ?2, ?3)", params![name, run, now_unix_ns])?;
            Ok(())
        })?;
        Ok(run)
    }

    /// Takes the name away; the run stays.
    ///
    /// # Errors
    /// When there is no such baseline, or writing fails.
    pub fn remove_baseline(&mut self, name: &str) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.write(|transaction| match transaction.execute("DELETE FROM baseline WHERE name = ?1", [name])? {
            0 => Err(unknown(transaction, &path, name)?.into()),
            _ => Ok(()),
        })
    }

    /// All baselines by name.
    ///
    /// # Errors
    /// When reading fails.
    pub fn baselines(&self) -> Result<Vec<Baseline>, StoreError> {
        self.read(all)
    }
}

/// The id of a run that a selector names: a baseline's, or the selector itself.
pub fn resolve(connection: &Connection, path: &Path, selector: &str) -> Result<Option<String>, Fault> {
    let Some(name) = selector.strip_prefix(PREFIX) else { return Ok(None) };
    match find(connection, name)? {
        None => Err(unknown(connection, path, name)?.into()),
        Some(Baseline { run, gone: true, .. }) => {
            Err(StoreError::BaselineGone { path: path.to_path_buf(), name: name.to_owned(), run }.into())
        }
        Some(baseline) => Ok(Some(baseline.run)),
    }
}

fn check_name(name: &str) -> Result<(), StoreError> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(fine) {
        return Err(StoreError::BaselineName { name: harmless(name) });
    }
    Ok(())
}

fn find(connection: &Connection, name: &str) -> Result<Option<Baseline>, Fault> {
    Ok(all(connection)?.into_iter().find(|baseline| baseline.name == name))
}

fn all(connection: &Connection) -> Result<Vec<Baseline>, Fault> {
    let mut statement = connection.prepare_cached("SELECT name, run, set_unix_ns FROM baseline ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut baselines = Vec::new();
    while let Some(row) = rows.next()? {
        let run: String = row.get(1)?;
        let gone = rows::find_run(connection, &run)?.is_none();
        baselines.push(Baseline { name: row.get(0)?, run, set_unix_ns: row.get(2)?, gone });
    }
    Ok(baselines)
}

fn unknown(connection: &Connection, path: &Path, name: &str) -> Result<StoreError, Fault> {
    let known: Option<String> = connection
        .query_row(
            "SELECT group_concat(name, ', ') FROM (SELECT name FROM baseline ORDER BY name LIMIT 8)",
            [],
            |row| row.get(0),
        )
        .optional()?
        .flatten();
    let hint =
        known.map_or("there is none yet; `baseline set` makes one".to_owned(), |names| format!("there are {names}"));
    Ok(StoreError::UnknownBaseline { path: path.to_path_buf(), name: harmless(name), hint })
}
