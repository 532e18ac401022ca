//! What a feature offers to the program: a guest has its own commands, words, schemas and page, and the core does without it.

use crate::exit::{Exit, Failure};
use clap::{ArgMatches, FromArgMatches};
use std::time::Instant;

/// A feature.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// Its commands.
    pub commands: &'static [Command],
    /// Schemas of what its commands print.
    pub schemas: &'static [Schema],
    /// Its page of documentation.
    pub page: &'static str,
}

/// A schema: name of the file, and the text.
pub type Schema = (&'static str, fn() -> String);

/// A command of a feature.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// The question that it answers and the words that ask it, for the program's help.
    pub question: Option<(&'static str, &'static str)>,
    /// Name, help and options.
    pub define: fn() -> clap::Command,
    /// Carries out what was typed; the time is when the program began.
    pub run: fn(&ArgMatches, Instant) -> Result<Exit, Failure>,
    /// The status by which a refusal of these words ends, if its callers take the usual status for an answer.
    pub refusal: fn(&[String]) -> Option<i32>,
}

impl Command {
    /// What most commands need not say.
    pub const USUAL: Self =
        Self { question: None, define: || clap::Command::new(""), run: |_, _| Ok(Exit::Fine), refusal: |_| None };
}

/// What was typed, as the options of a command.
///
/// # Errors
/// The options are not those that the command defines.
pub fn typed<T: FromArgMatches>(matches: &ArgMatches) -> Result<T, Failure> {
    T::from_arg_matches(matches).map_err(Failure::internal)
}
