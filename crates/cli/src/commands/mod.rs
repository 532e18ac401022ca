//! One file per command, and the list of them.

mod baseline;
mod check_probe;
mod compare;
mod config;
mod doctor;
mod explain;
mod export;
mod forget;
mod history;
mod import;
mod list;
mod measure;
mod new_probe;
mod report;
mod run;
mod show;
mod sweep;

use crate::arguments::config_options;
use crate::features::FEATURES;
use std::time::Instant;
use switchcost_catalogue::grammar::did_you_mean;
use switchcost_report::Style;
use switchcost_report::text::wrapped;
use switchcost_session::Group::{Compare, Measure, Read, Share};
use switchcost_session::{Command, Exit, Failure, Group, exit, output};

/// What measuring may end with.
const MEASURES: &[u8] = &[3, 4, 5];

/// The core's.
const COMMANDS: &[Command] = &[
    Command::of::<run::Run>(Measure, "run goroutine 'thread/*' --contexts 2,1000", MEASURES)
        .answering("what does a switch cost here?", "run"),
    Command::of::<sweep::Sweep>(Measure, "sweep contexts coroutine goroutine --to 100k", MEASURES),
    Command::of::<doctor::Doctor>(Measure, "doctor --gate && switchcost run", &[1])
        .answering("can I trust figures from here?", "doctor"),
    Command::of::<show::Show>(Read, "show latest thread --notes", &[]),
    Command::of::<list::List>(Read, "list fiber", &[]),
    Command::of::<explain::Explain>(Read, "explain 'thread/pipe free'", MEASURES)
        .answering("where do the nanoseconds go?", "explain thread/futex"),
    Command::of::<history::History>(Read, "history thread/pipe --since 30d", &[])
        .answering("did an update make it slower?", "history thread/pipe"),
    Command::of::<forget::Forget>(Read, "forget --before 90d --keep 100", &[4]),
    Command::of::<report::Report>(Read, "report --open", &[]),
    Command::of::<compare::Compare>(Compare, "compare baseline:v1 latest --gate 5%", &[1, 3, 4, 5, 7])
        .answering("which is cheaper?", "compare goroutine thread"),
    Command::of::<baseline::Baseline>(Compare, "baseline set v1 && switchcost baseline list", &[]),
    Command::of::<export::Export>(Share, "export latest > run.jsonl", &[]),
    Command::of::<import::Import>(Share, "import run.jsonl", &[]),
    Command::of::<config::Config>(Share, "config", &[]),
    Command::of::<new_probe::NewProbe>(Share, "new-probe DIR --language cpp", &[]),
    Command::of::<check_probe::CheckProbe>(Share, "check-probe ~/.local/share/switchcost/probes/mine", &[3, 6]),
];

/// Those of the core and of the features, by group.
pub fn all() -> Vec<&'static Command> {
    let mut all: Vec<_> = COMMANDS.iter().chain(FEATURES.iter().flat_map(|feature| feature.commands)).collect();
    all.sort_by_key(|command| command.group);
    all
}

/// The whole command line.
pub fn command_line() -> clap::Command {
    let all: Vec<(&Command, clap::Command)> = all().into_iter().map(|command| (command, defined(command))).collect();
    let style = Style { width: output::style().width.min(Some(80)), ..Style::PIPED };
    let mut groups = String::new();
    for group in Group::ALL {
        groups.push_str(&format!("{}:\n", group.title()));
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
            "{{about}}\n{{usage-heading}} {{usage}}\n\nQuestions:\n{}\n{}{{after-help}}",
            questions.concat(),
            groups.trim_end()
        ))
        .after_help("`switchcost COMMAND -h` lists options, `--help` says more; -V is the version.")
        .after_long_help(exit::HELP)
        .args(config_options())
        .subcommands(all.into_iter().map(|(_, command)| command))
}

/// A command with its example and its exit statuses below its options.
fn defined(command: &Command) -> clap::Command {
    let defined = (command.define)();
    let own = defined.get_after_help().map(ToString::to_string);
    let example = format!("Example: switchcost {}", command.example);
    let statuses = own.unwrap_or_else(|| exit::described(command.statuses));
    // The long help of some begins with examples.
    let shown = defined.get_long_about().is_some_and(|about| about.to_string().contains("  switchcost "));
    let long = if shown { statuses.clone() } else { format!("{example}\n{statuses}") };
    defined.after_help(format!("{example}\n{statuses}")).after_long_help(long)
}

/// What a word may mean that no command has.
pub fn near(word: &str) -> String {
    let commands: Vec<clap::Command> = all().into_iter().map(|command| (command.define)()).collect();
    let option = |command: &clap::Command| command.get_arguments().any(|option| option.get_long() == Some(word));
    if let Some(command) = commands.iter().find(|command| option(command)) {
        return format!(" (did you mean the option `{} --{word}`?)", command.get_name());
    }
    let below = || commands.iter().flat_map(|above| above.get_subcommands().map(move |own| (above, own.get_name())));
    let own: Vec<&str> = commands.iter().map(clap::Command::get_name).collect();
    let near = did_you_mean(word, own.iter().copied().chain(below().map(|(_, name)| name)));
    below()
        .filter(|(_, name)| !own.contains(name))
        .fold(near, |near, (above, name)| near.replace(&format!("`{name}`"), &format!("`{} {name}`", above.get_name())))
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
        // The parser wraps no line of usage.
        let fits = |line: &str| line.chars().count() <= 80 || line.starts_with("Usage: ");
        let short = |help: &str| help.lines().count() <= 42 && help.lines().all(fits);
        assert!(short(&help), "{help}");
        let mut whole = command_line().term_width(80);
        whole.build();
        for command in whole.get_subcommands().flat_map(|one| std::iter::once(one).chain(one.get_subcommands())) {
            let own = command.clone().render_help().to_string();
            assert!(short(&own), "{own}");
        }
        for command in all() {
            let line = format!("\n  {:<12} ", (command.define)().get_name());
            let places: Vec<usize> = help.match_indices(&line).map(|found| found.0).collect();
            assert_eq!(places.len(), 1, "{line}");
            let under = headings.iter().rposition(|heading| *heading < places[0]);
            assert_eq!(under.map(|place| Group::ALL[place]), Some(command.group), "{line}");
        }
    }
}
