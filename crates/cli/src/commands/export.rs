//! `export`: a stored run for others.

use super::formatted;
use crate::arguments::{self, ExportFormat, Format};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths::{self, Installation};
use std::path::Path;
use switchcost_store::Store;

/// Writes a stored run.
pub fn export(arguments: &arguments::Export) -> Result<Exit, Failure> {
    let catalogue = Installation::find()?.catalogue()?;
    let store = Store::open_read_only(&paths::store(arguments.store.store.as_deref())?).map_err(Failure::usage)?;
    let mut run = store.load(&arguments.run).map_err(Failure::usage)?;
    if arguments.shareable {
        switchcost_store::strip_personal(&mut run);
    }
    let standard = arguments.output == Path::new("-");
    let text = match arguments.format {
        ExportFormat::Parquet if standard => {
            return Err(Failure::usage("--format parquet is no text; name a file by -o, such as -o run.parquet"));
        }
        ExportFormat::Parquet => {
            let bytes = switchcost_report::parquet(&run, &catalogue).map_err(Failure::internal)?;
            return output::write_file(&arguments.output, &bytes).map(|()| Exit::Fine);
        }
        ExportFormat::Benchstat => switchcost_report::benchstat(&run, &catalogue),
        ExportFormat::Table => formatted(&run, &catalogue, Format::Table)?,
        ExportFormat::Json => formatted(&run, &catalogue, Format::Json)?,
        ExportFormat::Jsonl => formatted(&run, &catalogue, Format::Jsonl)?,
        ExportFormat::Csv => formatted(&run, &catalogue, Format::Csv)?,
        ExportFormat::Md => formatted(&run, &catalogue, Format::Md)?,
    };
    if standard {
        output::print(&text)?
    } else {
        output::write_file(&arguments.output, text.as_bytes())?
    }
    Ok(Exit::Fine)
}
