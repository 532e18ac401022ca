//! `show`: a stored run.

use super::formatted;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths::{self, Installation};
use switchcost_analysis::Analysis;
use switchcost_store::Store;

/// Shows a stored run.
pub fn show(arguments: &arguments::Show) -> Result<Exit, Failure> {
    if arguments.plot && !arguments.format.is("table") && !arguments.format.is("md") {
        return Err(Failure::usage("--plot is for people: it goes with --format table or md only"));
    }
    let catalogue = Installation::find()?.catalogue()?;
    let store = Store::open_read_only(&paths::store(arguments.store.store.as_deref())?).map_err(Failure::usage)?;
    let run = store.load(&arguments.run).map_err(Failure::usage)?;
    let style = arguments.detail.style();
    let mut text = formatted(&run, &catalogue, arguments.format, style)?.0;
    if arguments.plot {
        // As people are told it, whatever others put into the run.
        text += &switchcost_report::ladder_plot(&Analysis::new(&run.harmless(), &catalogue), style);
    }
    output::print(&text)?;
    Ok(Exit::Fine)
}
