//! Baselines: names that people give to runs, so that later ones can be compared with them.

use crate::cells::Query;
use crate::error::{Fault, StoreError};
use crate::rows;
use rusqlite::{Connection, params};
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

/// Gives the name to a run. Another run keeps its name unless `replace` is true.
pub fn set(connection: &Connection, path: &Path, named: &Baseline, replace: bool) -> Result<(), Fault> {
    let Baseline { name, run, set_unix_ns, .. } = named;
    match find(connection, name)? {
        Some(taken) if taken.run == *run => return Ok(()),
        Some(taken) if !replace => {
            let (path, name) = (path.to_path_buf(), name.clone());
            return Err(StoreError::BaselineTaken { path, name, run: taken.run }.into());
        }
        _ => {}
    }
    connection.execute(
        "INSERT OR REPLACE INTO baseline (name, run, set_unix_ns) VALUES (?1, ?2, ?3)",
        params![name, run, set_unix_ns],
    )?;
    Ok(())
}

/// Takes a name away.
pub fn remove(connection: &Connection, path: &Path, name: &str) -> Result<(), Fault> {
    match connection.execute("DELETE FROM baseline WHERE name = ?1", [name])? {
        0 => Err(unknown(connection, path, name)?.into()),
        _ => Ok(()),
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

/// Refuses what is not a name.
pub fn check_name(name: &str) -> Result<(), StoreError> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(fine) {
        return Err(StoreError::BaselineName { name: harmless(name) });
    }
    Ok(())
}

fn find(connection: &Connection, name: &str) -> Result<Option<Baseline>, Fault> {
    Ok(all(connection)?.into_iter().find(|baseline| baseline.name == name))
}

/// All baselines by name.
pub fn all(connection: &Connection) -> Result<Vec<Baseline>, Fault> {
    Query::new(connection, "SELECT * FROM baseline ORDER BY name")?.rows([], |row| {
        let run: String = row.get("run")?;
        let gone = rows::find_run(connection, &run)?.is_none();
        Ok(Baseline { name: row.get("name")?, run, set_unix_ns: row.get("set_unix_ns")?, gone })
    })
}

fn unknown(connection: &Connection, path: &Path, name: &str) -> Result<StoreError, Fault> {
    let known: Vec<String> = all(connection)?.into_iter().take(8).map(|baseline| baseline.name).collect();
    let hint = match known[..] {
        [] => "there is none yet; `baseline set` makes one".to_owned(),
        _ => format!("there are {}", known.join(", ")),
    };
    Ok(StoreError::UnknownBaseline { path: path.to_path_buf(), name: harmless(name), hint })
}
