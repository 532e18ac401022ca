//! The user's defaults, put to the options of the command that was typed.

use crate::arguments::{COMMAND_LINE, settable};
use crate::commands;
use crate::refusal;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use std::path::PathBuf;
use switchcost_catalogue::grammar::did_you_mean;
use switchcost_session::Failure;
use switchcost_session::defaults::{Defaults, OPTIONS, hold};

/// What was typed, with the defaults that a file has for it.
pub fn applied(typed: ArgMatches) -> Result<ArgMatches, Failure> {
    let (named, none) = (typed.get_one::<PathBuf>("config"), typed.get_flag("no-config"));
    let read = if none { Ok(Defaults::default()) } else { Defaults::read(named.map(PathBuf::as_path)) };
    let cure = |failure: Failure| match named {
        Some(_) => failure,
        None => Failure { sentence: format!("{}; --no-config leaves it out", failure.sentence), ..failure },
    };
    let defaults = read.map_err(cure)?;
    let whole = COMMAND_LINE.get_or_init(commands::command_line);
    let refused = |reason: String| {
        let file = defaults.file.as_ref().map_or_else(String::new, |file| file.display().to_string());
        cure(Failure::usage(format!("{file}: {reason}")))
    };
    check(&defaults, whole).map_err(refused)?;
    let Some((name, own)) = typed.subcommand() else { return Ok(typed) };
    let mut recorded = Vec::new();
    let whole = whole.clone().mut_subcommand(name, |command| {
        let given = defaults.options.iter().filter(|((command, _), _)| command == name);
        given.fold(command, |command, ((_, option), values)| {
            let found =
                command.get_arguments().find(|arg| arg.get_long() == Some(option)).map(|arg| arg.get_id().clone());
            let Some(id) = found else { return command };
            if own.value_source(id.as_str()) != Some(ValueSource::CommandLine) {
                recorded.push(format!("--{option}={}", values.join(",")));
            }
            // They live as long as the command line, and are few.
            let values: Vec<&'static str> = values.iter().map(|value| &*value.clone().leak()).collect();
            command.mut_arg(id, |arg| arg.default_values(values))
        })
    });
    let typed = whole.try_get_matches().map_err(|error| Failure::internal(refusal::sentence(&error)))?;
    hold(defaults, recorded);
    Ok(typed)
}

/// Refuses what is not an option of its command, and values that it does not take.
fn check(defaults: &Defaults, whole: &Command) -> Result<(), String> {
    for ((name, option), values) in &defaults.options {
        let commands = || whole.get_subcommands().filter(|command| settable(command).next().is_some());
        let Some(command) = commands().find(|command| command.get_name() == name) else {
            return Err(format!(
                "there is no command [{name}] to set options of{}",
                did_you_mean(name, commands().map(Command::get_name))
            ));
        };
        let Some(arg) = settable(command).find(|arg| arg.get_long() == Some(option)) else {
            let known: Vec<&str> = settable(command).filter_map(Arg::get_long).collect();
            return Err(format!("[{name}] has no `{option}`; a file may set its {}", known.join(", ")));
        };
        let one = values.len() == 1 || arg.get_value_delimiter().is_some();
        let long = OPTIONS.into_iter().find(|known| known == option).unwrap_or_default();
        let alone = Arg::new(long).long(long).value_parser(arg.get_value_parser().clone());
        let alone = Command::new("").arg(alone.action(clap::ArgAction::Append));
        let words = values.iter().map(|value| format!("--{option}={value}"));
        let tried = alone.try_get_matches_from(std::iter::once(name.clone()).chain(words));
        if let Some(error) = tried.err() {
            return Err(format!("[{name}] {}", refusal::why_not(&error).trim_start_matches("--")));
        }
        if !one {
            return Err(format!("[{name}] {option}: it is one value"));
        }
    }
    Ok(())
}
