//! Rows of the store by the names of their columns.

use crate::error::{Fault, json_reason};
use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{CachedStatement, Connection, Params, Row, ToSql, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::str::FromStr;
use switchcost_model::IdError;

/// A row that was read.
///
/// Names of columns are read once a query. SQLite's own look-up reads them for each cell, which
/// would cost an eighth of loading a run.
pub struct Cells<'a> {
    row: &'a Row<'a>,
    names: &'a [String],
}

/// A query, which may be asked many times.
pub struct Query<'c> {
    statement: CachedStatement<'c>,
    names: Vec<String>,
}

impl<'c> Query<'c> {
    pub fn new(connection: &'c Connection, sql: &str) -> Result<Self, Fault> {
        let statement = connection.prepare_cached(sql)?;
        let names = statement.column_names().into_iter().map(str::to_owned).collect();
        Ok(Self { statement, names })
    }

    /// What `read` makes of each of its rows.
    pub fn rows<T>(
        &mut self,
        parameters: impl Params,
        mut read: impl FnMut(&Cells<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let (mut rows, mut all) = (self.statement.query(parameters)?, Vec::new());
        while let Some(row) = rows.next()? {
            all.push(read(&Cells { row, names: &self.names })?);
        }
        Ok(all)
    }
}

/// Writes a row; its number.
pub fn insert(connection: &Connection, table: &str, columns: &[(&str, &dyn ToSql)]) -> Result<i64, Fault> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let places = vec!["?"; columns.len()].join(", ");
    let sql = format!("INSERT INTO {table} ({}) VALUES ({places})", names.join(", "));
    let values = params_from_iter(columns.iter().map(|(_, value)| *value));
    connection.prepare_cached(&sql)?.execute(values)?;
    Ok(connection.last_insert_rowid())
}

/// SQLite has no unsigned numbers: two's complement, as the schema says.
pub fn signed(value: u64) -> i64 {
    value.cast_signed()
}

/// A value of a column that holds JSON.
pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::Unreadable(json_reason(&error)))
}

/// The same of a column that may be NULL.
pub fn json_or_null<T: Serialize>(value: Option<&T>) -> Result<Option<String>, Fault> {
    value.map(json).transpose()
}

impl Cells<'_> {
    /// What stands in a column.
    pub fn value(&self, name: &str) -> Result<ValueRef<'_>, Fault> {
        // Few have the same length, so that a tree of names would compare more.
        let place = self.names.iter().position(|known| known == name);
        Ok(self.row.get_ref(place.ok_or_else(|| rusqlite::Error::InvalidColumnName(name.to_owned()))?)?)
    }

    pub fn get<T: FromSql>(&self, name: &str) -> Result<T, Fault> {
        T::column_result(self.value(name)?).map_err(|error| unreadable(name, &error.to_string()))
    }

    pub fn unsigned(&self, name: &str) -> Result<u64, Fault> {
        self.get(name).map(i64::cast_unsigned)
    }

    pub fn word<T: FromStr<Err = IdError>>(&self, name: &str) -> Result<T, Fault> {
        let word = self.value(name)?.as_str().map_err(|error| unreadable(name, &error.to_string()))?;
        word.parse().map_err(|error: IdError| unreadable(name, &error.0))
    }

    pub fn parse<T: DeserializeOwned>(&self, name: &str) -> Result<T, Fault> {
        self.parse_or_null(name)?.ok_or_else(|| unreadable(name, "it is null"))
    }

    pub fn parse_or_null<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Fault> {
        let text = self.value(name)?.as_bytes_or_null().map_err(|error| unreadable(name, &error.to_string()))?;
        let parsed = text.map(serde_json::from_slice).transpose();
        parsed.map_err(|error| unreadable(name, &json_reason(&error)))
    }
}

/// What is wrong with a column.
pub fn unreadable(name: &str, reason: &str) -> Fault {
    Fault::Unreadable(format!("column {name}: {reason}"))
}
