//! What documents are derived from: the command line, and pages made of run files.

use crate::arguments::Arguments;
use crate::commands::{formatted, run_file};
use crate::exit::Failure;
use crate::formats::Form;
use crate::paths::Installation;
use clap::CommandFactory;
use std::path::{Path, PathBuf};
use switchcost_analysis::node_starts;
use switchcost_catalogue::fleet_plan;
use switchcost_catalogue::grammar::Pattern;
use switchcost_model::Passage;
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

/// The starts of a node's run, in the compact form that the error rates of `fleet judge` are simulated from.
///
/// # Errors
/// A sentence about the file or the installation.
pub fn fleet_starts(kind: &str, file: &Path) -> Result<String, String> {
    let told = || {
        let catalogue = Installation::find()?.catalogue()?;
        let run = run_file(file)?;
        let plan = fleet_plan();
        let list = |all: &[f64]| all.iter().map(|ns| format!("{ns:.5e}")).collect::<Vec<_>>().join(",");
        let mut text = format!("run\t{kind}\t{}\n", run.invocations.len());
        for name in ["cgroup.cpu_depth", "cgroup.cpu_quota"] {
            let value = run.machine.stable.get(name).map_or("unknown", String::as_str);
            text += &format!("fact\t{name}\t{value}\n");
        }
        let mut kinds: Vec<&str> =
            run.invocations.iter().flat_map(|start| &start.disturbances).map(|one| one.kind.as_str()).collect();
        kinds.sort_unstable();
        for same in kinds.chunk_by(|a, b| a == b) {
            text += &format!("disturbed\t{}\t{}\n", same[0], same.len());
        }
        for row in node_starts(&run, &catalogue).0.iter().filter(|row| !row.variant.is_twin()) {
            let fits =
                |pattern: &str| Pattern::parse(pattern).is_ok_and(|pattern| pattern.fits(row.variant, &row.label));
            let through = plan.rows.iter().find(|planned| fits(&planned.pattern));
            let through = through.map_or(Passage::Other, |planned| planned.through);
            text += &format!("row\t{}\t{through}\t{}\t{}\n", row.label, list(&row.medians), list(&row.means));
        }
        Ok(text)
    };
    told().map_err(|failure: Failure| failure.sentence)
}

/// A page of the documentation: a template, filled in with figures of run files, and with what programs printed (`*.txt`, `*.json`).
///
/// # Errors
/// A sentence about a file, the template or the installation.
pub fn filled(template: &Path, files: &[PathBuf]) -> Result<String, String> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let text = read(template)?;
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
    let name = template.display().to_string();
    switchcost_report::fill(&name, &text, kept, &catalogue).map_err(|error| error.to_string())
}
