//! `show`: a stored run.

use super::formatted;
use crate::arguments::{self, Format};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths::{self, Installation};
use switchcost_store::Store;

/// Shows a stored run.
pub fn show(arguments: &arguments::Show) -> Result<Exit, Failure> {
    if arguments.plot && !matches!(arguments.format, Format::Table | Format::Md) {
        return Err(Failure::usage("--plot is for people: it goes with --format table or md only"));
    }
    let catalogue = Installation::find()?.catalogue()?;
    let store = Store::open_read_only(&paths::store(arguments.store.store.as_deref())?).map_err(Failure::usage)?;
    let run = store.load(&arguments.run).map_err(Failure::usage)?;
    output::print(&formatted(&run, &catalogue, arguments.format)?)?;
    if arguments.plot {
        output::print(&switchcost_report::ladder_plot(&run, &catalogue, output::style()))?;
    }
    Ok(Exit::Fine)
}
