//! What documents are derived from: the command line.

use crate::commands;
use crate::features::FEATURES;

/// The command line.
#[must_use]
pub fn command() -> clap::Command {
    commands::command_line()
}

/// Schemas of the features' documents, each by the name of its file.
pub fn schemas() -> impl Iterator<Item = (&'static str, String)> {
    FEATURES.iter().flat_map(|feature| feature.schemas).map(|(name, text)| (*name, text()))
}
