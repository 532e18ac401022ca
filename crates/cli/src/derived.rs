//! What documents are derived from: the command line, and pages made of run files.

use crate::arguments::Arguments;
use crate::commands::{Bars, formatted, run_file};
use crate::exit::Failure;
use crate::formats::Form;
use crate::paths::Installation;
use clap::CommandFactory;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
        Ok(formatted(&run_file(file)?, &catalogue, Form::named("table"), Bars::Never)?.0)
    };
    show().map_err(|failure: Failure| failure.sentence)
}

/// A page of the documentation: a template, filled in with figures of run files and with text files (`*.txt`).
///
/// # Errors
/// A sentence about a file, the template or the installation.
pub fn filled(template: &Path, files: &[PathBuf]) -> Result<String, String> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let text = read(template)?;
    let (mut runs, mut texts) = (BTreeMap::new(), BTreeMap::new());
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "txt") {
            texts.insert(name, read(path)?);
        } else {
            runs.insert(name, run_file(path).map_err(|failure| failure.sentence)?);
        }
    }
    let catalogue = Installation::find().and_then(|found| found.catalogue()).map_err(|failure| failure.sentence)?;
    let name = template.display().to_string();
    switchcost_report::fill(&name, &text, runs, texts, &catalogue).map_err(|error| error.to_string())
}
