//! Runs that files hold.

use crate::exit::Failure;
use crate::output;
use crate::paths::Installation;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use switchcost_catalogue::Catalogue;
use switchcost_model::{Run, harmless};

/// A run from a file by `export`, judged by the rules of this version.
///
/// # Errors
/// The file cannot be read, or is not a run file.
pub fn run_file(path: &Path) -> Result<Run, Failure> {
    let named = |reason: &dyn std::fmt::Display| Failure::usage(format!("{}: {reason}", path.display()));
    let file = File::open(path).map_err(|error| named(&format!("cannot be read ({error})")))?;
    let mut run = switchcost_store::import_jsonl(&mut BufReader::new(file)).map_err(|error| named(&error))?;
    for line in judged_here(&mut run, &Installation::find()?.catalogue()?) {
        output::say(&line);
    }
    Ok(run)
}

/// Judges a run that was read from a file by the rules of this version: what it says of itself is not believed. A line for each verdict that
/// changes by that.
pub fn judged_here(run: &mut Run, catalogue: &Catalogue) -> Vec<String> {
    let changed = switchcost_analysis::judge_again(run, &catalogue.mechanisms);
    let line = |changed: &switchcost_analysis::Changed| {
        let variant = &run.variants[changed.variant];
        let reason =
            changed.reason.as_ref().map(|reason| format!(": {}", harmless(&reason.to_string()))).unwrap_or_default();
        format!(
            "  {} ({}, {}): {} in the file, {} by its evidence{reason}",
            variant.mechanism,
            harmless(&variant.probe),
            variant.placement,
            changed.from,
            changed.to
        )
    };
    changed.iter().map(line).collect()
}
