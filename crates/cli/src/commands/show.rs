//! `show`: a stored run.

use super::formatted;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths::{self, Installation};
use switchcost_store::Store;

/// Shows a stored run.
pub fn show(arguments: &arguments::Show) -> Result<Exit, Failure> {
    let catalogue = Installation::find()?.catalogue()?;
    let store = Store::open_read_only(&paths::store(arguments.store.store.as_deref())?).map_err(Failure::usage)?;
    let run = store.load(&arguments.run).map_err(Failure::usage)?;
    output::print(&formatted(&run, &catalogue, arguments.format)?)?;
    Ok(Exit::Fine)
}
