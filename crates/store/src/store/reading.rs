//! A run from its rows.

use crate::error::Fault;
use crate::rows::RunRow;
use crate::{rows, rules, seal};
use rusqlite::Connection;
use switchcost_model::{Run, Variant, harmless};

/// The run in row `key`, with the invocations of wanted variants, as it was stored.
pub fn read_run(connection: &Connection, key: i64, id: &str, wanted: &dyn Fn(&Variant) -> bool) -> Result<Run, Fault> {
    read_sealed(connection, key, id, wanted).map_err(|fault| of_run(id, fault))
}

/// A header is as it was stored.
pub fn intact(connection: &Connection, row: &RunRow) -> Result<(), Fault> {
    seal::check_run(connection, row.key).map_err(|fault| of_run(&row.run.id, fault))
}

/// Says which run it is that cannot be read.
fn of_run(id: &str, fault: Fault) -> Fault {
    match fault {
        Fault::Unreadable(reason) => Fault::Unreadable(format!("run {}: {reason}", harmless(id))),
        other => other,
    }
}

fn read_sealed(connection: &Connection, key: i64, id: &str, wanted: &dyn Fn(&Variant) -> bool) -> Result<Run, Fault> {
    seal::check_run(connection, key)?;
    let mut run = rows::headers(connection, Some(id))?.pop().ok_or_else(|| vanished(id))?.run;
    // Its checksum fits: what cannot be read of it was stored so.
    rows::read_variants(connection, key, &mut run).map_err(|fault| match fault {
        Fault::Unreadable(reason) => Fault::Later(harmless(id), reason),
        other => other,
    })?;
    let wanted: Vec<bool> = run.variants.iter().map(wanted).collect();
    rows::invocations(connection, key, &wanted, |record| {
        run.invocations.push(record.try_into()?);
        Ok(())
    })?;
    rules::check(&run).map_err(Fault::Unreadable)?;
    Ok(run)
}

/// A row that was there a statement ago, in the same transaction, is gone.
pub fn vanished(id: &str) -> Fault {
    Fault::Unreadable(format!("run {id} is listed but not there"))
}
