//! `fill`: pages of the documentation, whose figures come from run files. Called by the tests and by `make generate`.

use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths::Installation;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Prints the page.
pub fn fill(template: &Path, files: &[PathBuf]) -> Result<Exit, Failure> {
    let read = |path: &Path| {
        std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))
    };
    let text = read(template)?;
    let (mut runs, mut texts) = (BTreeMap::new(), BTreeMap::new());
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "txt") {
            texts.insert(name, read(path)?);
        } else {
            runs.insert(name, super::run_file(path)?);
        }
    }
    let catalogue = Installation::find()?.catalogue()?;
    let name = template.display().to_string();
    output::print(&switchcost_report::fill(&name, &text, runs, texts, &catalogue).map_err(Failure::usage)?)?;
    Ok(Exit::Fine)
}
