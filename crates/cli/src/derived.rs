//! What documents are derived from: the command line, and pages made of run files.

use crate::arguments::Arguments;
use crate::commands::{formatted, run_file};
use crate::exit::Failure;
use crate::formats::Form;
use crate::paths::Installation;
use clap::CommandFactory;
use std::path::{Path, PathBuf};
use switchcost_analysis::NodeSample;
use switchcost_catalogue::fleet_plan;
use switchcost_report::{Kept, Style};

/// The command line.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::command()
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

/// Pages of the documentation: templates, filled in with figures of run files, and with what programs printed (`*.txt`, `*.json`).
///
/// # Errors
/// A sentence about a file, a template or the installation.
pub fn filled(templates: &[PathBuf], files: &[PathBuf]) -> Result<Vec<String>, String> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let mut kept = Kept::default();
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("txt") => drop(kept.texts.insert(name, read(path)?)),
            Some("json") => drop(kept.documents.insert(name, read(path)?)),
            Some("jsonl") => drop(kept.runs.insert(name, run_file(path).map_err(|failure| failure.sentence)?)),
            _ => {}
        }
    }
    let catalogue = Installation::find().and_then(|found| found.catalogue()).map_err(|failure| failure.sentence)?;
    let page = |template: &PathBuf| {
        let name = template.display().to_string();
        switchcost_report::fill(&name, &read(template)?, kept.clone(), &catalogue).map_err(|error| error.to_string())
    };
    templates.iter().map(page).collect()
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
