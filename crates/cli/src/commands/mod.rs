//! One file per command, and the list of them.

mod baseline;
mod check_probe;
mod compare;
mod doctor;
mod explain;
mod export;
mod history;
mod import;
mod list;
mod measure;
mod new_probe;
mod report;
mod run;
mod show;
mod sweep;

use crate::features::FEATURES;
use std::time::Instant;
use switchcost_report::Style;
use switchcost_report::text::wrapped;
use switchcost_session::Group::{Compare, Measure, Read, Share};
use switchcost_session::{Command, Exit, Failure, Group, exit, output};

/// The core's.
const COMMANDS: &[Command] = &[
    Command::of::<run::Run>(Measure).answering("what does a switch cost here?", "run"),
    Command::of::<sweep::Sweep>(Measure),
    Command::of::<doctor::Doctor>(Measure).answering("can I trust figures from here?", "doctor"),
    Command::of::<show::Show>(Read),
    Command::of::<list::List>(Read),
    Command::of::<explain::Explain>(Read).answering("where do the nanoseconds go?", "explain thread/futex"),
    Command::of::<history::History>(Read).answering("did an update make it slower?", "history thread/pipe"),
    Command::of::<report::Report>(Read),
    Command::of::<compare::Compare>(Compare)
        .answering("which is cheaper, and fits?", "compare goroutine thread coroutine --contexts 10k --rate 200k/s"),
    Command::of::<baseline::Baseline>(Compare),
    Command::of::<export::Export>(Share),
    Command::of::<import::Import>(Share),
    Command::of::<new_probe::NewProbe>(Share),
    Command::of::<check_probe::CheckProbe>(Share),
];

/// Those of the core and of the features, by group.
pub fn all() -> Vec<&'static Command> {
    let mut all: Vec<_> = COMMANDS.iter().chain(FEATURES.iter().flat_map(|feature| feature.commands)).collect();
    all.sort_by_key(|command| command.group);
    all
}

/// The whole command line.
pub fn command_line() -> clap::Command {
    let all: Vec<(&Command, clap::Command)> = all().into_iter().map(|command| (command, (command.define)())).collect();
    let style = Style { width: Some(output::style().width.unwrap_or(100).min(100)), ..Style::PLAIN };
    let mut groups = String::new();
    for group in Group::ALL {
        groups.push_str(&format!("\n{}:\n", group.title()));
        for (_, command) in all.iter().filter(|(command, _)| command.group == group) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            groups.push_str(&wrapped(&format!("  {:<12} ", command.get_name()), &about, style));
        }
    }
    let questions = all.iter().filter_map(|(command, _)| command.question);
    let questions: Vec<String> =
        questions.map(|(question, words)| format!("  {question:<34} switchcost {words}\n")).collect();
    clap::Command::new("switchcost")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Measures what it costs to hand the CPU from one execution context to another")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\nOptions:\n{{options}}{{after-help}}"
        ))
        .after_help(format!("Questions:\n{}\n{}", questions.concat(), exit::HELP))
        .subcommands(all.into_iter().map(|(_, command)| command))
}

/// Carries out what was typed.
pub fn dispatch(typed: &clap::ArgMatches, started: Instant) -> Result<Exit, Failure> {
    let typed = typed.subcommand();
    let found = typed.and_then(|(name, own)| {
        let command = all().into_iter().find(|command| (command.define)().get_name() == name)?;
        Some((command.run)(own, started))
    });
    found.unwrap_or_else(|| Err(Failure::internal("no such command is listed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_each_command_once_under_the_heading_of_its_group() {
        let help = command_line().render_help().to_string();
        let headings: Vec<usize> =
            Group::ALL.map(|group| help.find(&format!("\n{}:\n", group.title())).unwrap()).into();
        for command in all() {
            let line = format!("\n  {:<12} ", (command.define)().get_name());
            let places: Vec<usize> = help.match_indices(&line).map(|found| found.0).collect();
            assert_eq!(places.len(), 1, "{line}");
            let under = headings.iter().rposition(|heading| *heading < places[0]);
            assert_eq!(under.map(|place| Group::ALL[place]), Some(command.group), "{line}");
        }
    }
}
