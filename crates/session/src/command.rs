//! A command as a value: the core and each feature list theirs, and help is made of the lists.

use crate::exit::{Exit, Failure};
use clap::{ArgMatches, Parser};
use std::time::Instant;
use switchcost_analysis::Analysis;

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// It measures, or says what measuring is worth here.
    Measure,
    /// It reads what was measured.
    Read,
    /// It sets figures beside others.
    Compare,
    /// It watches machines and programs at work.
    Operate,
    /// It takes runs elsewhere, or brings probes.
    Share,
}

impl Group {
    /// In the order of help.
    pub const ALL: [Self; 5] = [Self::Measure, Self::Read, Self::Compare, Self::Operate, Self::Share];

    /// Its heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Measure => "Measure",
            Self::Read => "Read",
            Self::Compare => "Compare",
            Self::Operate => "Operate",
            Self::Share => "Share and extend",
        }
    }
}

/// The options of a command, which carry it out.
pub trait Action: Parser {
    /// Carries it out; `started` is when the program began.
    ///
    /// # Errors
    /// One sentence for people, and the exit status.
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure>;
}

/// A command.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// Where help lists it.
    pub group: Group,
    /// Name, help and options.
    pub define: fn() -> clap::Command,
    /// Carries out what was typed.
    pub run: fn(&ArgMatches, Instant) -> Result<Exit, Failure>,
    /// Words that show what it can do, after the program's name.
    pub example: &'static str,
    /// What it may end with beside 0 and 2; nothing: its help says it in its own way.
    pub statuses: &'static [u8],
    /// The question that it answers and the words that ask it, for the program's help.
    pub question: Option<(&'static str, &'static str)>,
    /// The status by which a refusal of these words ends, if its callers take the usual status for
    /// an answer.
    pub refusal: fn(&[String]) -> Option<i32>,
}

impl Command {
    /// The command of these options.
    #[must_use]
    pub const fn of<T: Action>(group: Group, example: &'static str, statuses: &'static [u8]) -> Self {
        let run = |typed: &ArgMatches, started: Instant| {
            T::from_arg_matches(typed).map_err(Failure::internal)?.carry_out(started)
        };
        Self { group, define: T::command, run, example, statuses, question: None, refusal: |_| None }
    }

    /// With the question that it answers.
    #[must_use]
    pub const fn answering(self, question: &'static str, words: &'static str) -> Self {
        Self { question: Some((question, words)), ..self }
    }
}

/// What a feature brings: a guest has its own commands, words, schemas and page, and the core does
/// without it.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// Its commands.
    pub commands: &'static [Command],
    /// Schemas of what its commands print.
    pub schemas: &'static [Schema],
    /// What its commands cannot do with a run that gets a name, and the cure.
    pub doubts: fn(&Analysis<'_>) -> Option<String>,
}

/// A schema: name of its file, and the text.
pub type Schema = (&'static str, fn() -> String);
