//! `export`: a stored run for others.

use super::formatted;
use crate::formats::Form;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_report::{Detail, Style};
use switchcost_session::arguments::StoreOption;
use switchcost_session::{Action, Exit, Failure, Installation, output, paths};
use switchcost_store::Store;

/// Write a stored run to a file, to share it or in another format
#[derive(Parser, Debug)]
#[command(name = "export")]
pub struct Export {
    /// Run id, the beginning of one, `latest`, `latest~N`, or `baseline:NAME`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// File format; only jsonl keeps everything and can be imported
    #[arg(long, value_name = "F", default_value = "jsonl", value_parser = Form::parser())]
    pub format: Form,
    /// File to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Keep what says whose the run is: host name, user names, paths
    #[arg(long, conflicts_with = "shareable")]
    pub private_facts: bool,
    /// Leave them out, which is the default
    #[arg(long, hide = true)]
    pub shareable: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Export {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let catalogue = Installation::find()?.catalogue()?;
        let store = Store::open_read_only(&paths::store(self.store.store.as_deref())?).map_err(Failure::usage)?;
        let mut run = store.load(&self.run).map_err(Failure::usage)?;
        if !self.private_facts {
            switchcost_store::strip_personal(&mut run);
        }
        let (text, _) = formatted(&run, &catalogue, self.format, Style { detail: Detail::Notes, ..output::style() })?;
        if self.output == Path::new("-") {
            output::print(&text)?
        } else {
            output::write_file(&self.output, text.as_bytes())?
        }
        Ok(Exit::Fine)
    }
}
