//! What documents are derived from: the command line, and run files.

use crate::commands;
use crate::features::FEATURES;
use crate::formats::Form;
use crate::formats::formatted;
use std::path::Path;
use switchcost_report::Style;
use switchcost_session::{Failure, Installation, run_file};

/// The command line.
#[must_use]
pub fn command() -> clap::Command {
    commands::command_line()
}

/// Schemas of the features' documents, each by the name of its file.
pub fn schemas() -> impl Iterator<Item = (&'static str, String)> {
    FEATURES.iter().flat_map(|feature| feature.schemas).map(|(name, text)| (*name, text()))
}

/// What `show` prints of a run file.
///
/// # Errors
/// A sentence about the file or the installation.
pub fn shown(file: &Path) -> Result<String, String> {
    let show = || {
        let catalogue = Installation::find()?.catalogue()?;
        Ok(formatted(&run_file(file)?, &catalogue, Form::table(), Style::PLAIN)?.0)
    };
    show().map_err(|failure: Failure| failure.sentence)
}
