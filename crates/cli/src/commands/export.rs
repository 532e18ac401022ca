//! `export`: a stored run for others.

use super::compare::operands::Runs;
use crate::formats::Form;
use crate::formats::formatted;
use clap::Parser;
use std::path::PathBuf;
use std::time::Instant;
use switchcost_report::{Detail, Style};
use switchcost_session::arguments::StoreOption;
use switchcost_session::{Action, Exit, Failure, Installation, output, paths};

/// Write a run for other programs, or as a file to share
#[derive(Parser, Debug)]
#[command(name = "export")]
pub struct Export {
    /// Run id, the beginning of one, `latest`, `latest~N`, `baseline:NAME`, or a file by `export`
    /// (*.jsonl)
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// File format; only jsonl keeps everything and can be imported
    #[arg(long, value_name = "F", default_value = "jsonl", value_parser = Form::parser(false))]
    pub format: Form,
    /// File to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_parser = output::file_parser())]
    pub output: PathBuf,
    /// Keep what says whose the run is: host name, user names, paths
    #[arg(long)]
    pub private_facts: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Export {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let catalogue = Installation::find()?.catalogue()?;
        let mut runs = Runs::new(paths::store(self.store.path())?, &catalogue);
        runs.load(&self.run)?;
        if !self.private_facts {
            runs.all.iter_mut().for_each(switchcost_store::strip_personal);
        }
        let (text, _) =
            formatted(&runs.all[0], &catalogue, self.format, Style { detail: Detail::Notes, ..output::style() })?;
        output::write_file(&self.output, text.as_bytes())?;
        Ok(Exit::Fine)
    }
}
