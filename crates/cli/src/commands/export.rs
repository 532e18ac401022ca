//! `export`: a stored run for others.

use super::formatted;
use crate::arguments;
use std::path::Path;
use switchcost_report::{Detail, Style};
use switchcost_session::{Exit, Failure, Installation, output, paths};
use switchcost_store::Store;

/// Writes a stored run.
pub fn export(arguments: &arguments::Export) -> Result<Exit, Failure> {
    let catalogue = Installation::find()?.catalogue()?;
    let store = Store::open_read_only(&paths::store(arguments.store.store.as_deref())?).map_err(Failure::usage)?;
    let mut run = store.load(&arguments.run).map_err(Failure::usage)?;
    if !arguments.private_facts {
        switchcost_store::strip_personal(&mut run);
    }
    let (text, _) = formatted(&run, &catalogue, arguments.format, Style { detail: Detail::Notes, ..output::style() })?;
    if arguments.output == Path::new("-") {
        output::print(&text)?
    } else {
        output::write_file(&arguments.output, text.as_bytes())?
    }
    Ok(Exit::Fine)
}
