//! What documents are derived from: the command line, and run files.

use crate::arguments;
use crate::commands::formatted;
use crate::features::FEATURES;
use crate::formats::Form;
use std::path::{Path, PathBuf};
use switchcost_analysis::NodeSample;
use switchcost_catalogue::fleet_plan;
use switchcost_report::Style;
use switchcost_session::{Failure, Installation, run_file};

/// The command line.
#[must_use]
pub fn command() -> clap::Command {
    arguments::command()
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
        Ok(formatted(&run_file(file)?, &catalogue, Form::named("table"), Style::PLAIN)?.0)
    };
    show().map_err(|failure: Failure| failure.sentence)
}

/// Run files of nodes as the figures of their starts, each by the name of its file: what the counts of docs/fleet.md rest on.
///
/// # Errors
/// A sentence about a file or the installation.
pub fn samples(files: &[PathBuf]) -> Result<Vec<(String, NodeSample)>, String> {
    let catalogue = Installation::find().and_then(|found| found.catalogue()).map_err(|failure| failure.sentence)?;
    let plan = fleet_plan();
    let sample = |path: &PathBuf| {
        let run = run_file(path).map_err(|failure| failure.sentence)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, NodeSample::of(&run, &catalogue, &plan)))
    };
    files.iter().map(sample).collect()
}
