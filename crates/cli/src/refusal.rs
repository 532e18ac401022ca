//! What is wrong with the arguments, in one sentence that names the flag, the reason and the cure.

use crate::commands;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use switchcost_catalogue::grammar::did_you_mean;
use switchcost_model::number::grouped;

/// What parsers of the standard library say, and what people do.
const PLAINER: [(&str, &str); 5] = [
    ("invalid digit found in string", "it is a whole number"),
    ("cannot parse integer from empty string", "it is a whole number"),
    ("number too large to fit in target type", "it is too large"),
    ("number too small to fit in target type", "it is too small"),
    ("invalid float literal", "it is a number"),
];

/// The sentence for a refusal of the parser's.
pub fn sentence(answer: &clap::Error) -> String {
    let all = |kind| match answer.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    };
    let (arguments, value) = (all(ContextKind::InvalidArg), all(ContextKind::InvalidValue).join(" "));
    // A flag without the name of its value, or the name of what has no flag.
    let flag = |text: &String| match text.starts_with("--") {
        true if *text != "--" => text.split([' ', '=', '[']).next().unwrap_or_default().to_owned(),
        _ => text.trim_matches(['-', ' ', '[', ']', '<', '>', '.']).to_owned(),
    };
    let one = arguments.first().map(flag).unwrap_or_default();
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let (command, here) = command();
    let why = match answer.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = all(ContextKind::InvalidSubcommand).join(" ");
            return format!(
                "switchcost: there is no command `{word}`{}; `switchcost -h` lists all",
                commands::near(&word)
            );
        }
        ErrorKind::UnknownArgument if arguments.iter().any(|argument| argument.starts_with('-')) => {
            let one = arguments.concat();
            // A number below zero is taken for an option.
            let typed = words.windows(2).find(|typed| typed[1].starts_with(&one) && typed[0].starts_with("--"));
            if let Some([flag, value]) = typed.filter(|_| one[1..].starts_with(|c: char| c.is_ascii_digit())) {
                return format!("{command}: {flag} `{value}`: it is not negative; `{command} -h` says more");
            }
            let near = all(ContextKind::SuggestedArg);
            let elsewhere = if one == "--format" { "; `switchcost export` writes formats" } else { "" };
            format!("it has no option {one}{}{elsewhere}", did_you_mean(&one, near.iter().map(String::as_str)))
        }
        ErrorKind::UnknownArgument => format!("it takes nothing more, and there is `{}`", arguments.concat()),
        ErrorKind::InvalidValue if value.is_empty() => format!("{one} needs a value"),
        ErrorKind::InvalidValue => {
            let known = all(ContextKind::ValidValue);
            let near = did_you_mean(&value, known.iter().map(String::as_str));
            format!("{one} `{value}`: it is one of {}{near}", known.join(", "))
        }
        ErrorKind::ValueValidation => {
            let source = answer.source().map_or_else(|| "it is refused".to_owned(), ToString::to_string);
            let source = PLAINER.iter().fold(source, |text, (raw, plain)| text.replace(raw, plain));
            let bounds = source.split_once(" is not in ").and_then(|(_, range)| range.split_once("..="));
            let bounds = bounds.and_then(|(least, most)| Some((least.parse().ok()?, most.parse().ok()?)));
            let source = bounds.map_or(source.clone(), |(least, most)| {
                format!("it is a number from {} to {}", grouped(least), grouped(most))
            });
            format!("{one} `{value}`: {source}")
        }
        ErrorKind::InvalidUtf8 => {
            let odd = std::env::args_os().position(|word| word.to_str().is_none()).unwrap_or_default();
            format!("argument {odd}, `{}`, is not UTF-8 text", words.get(odd).map_or("", String::as_str))
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let names = here.get_subcommands().map(clap::Command::get_name).collect::<Vec<_>>();
            format!("name a command: {}", names.join(", "))
        }
        ErrorKind::MissingRequiredArgument => format!("it needs {}", arguments.join(" and ")),
        ErrorKind::ArgumentConflict => {
            let others: Vec<String> = all(ContextKind::PriorArg).iter().map(flag).collect();
            match others.as_slice() {
                [] => format!("{one} takes no other option"),
                [other] if *other == one => format!("{one} is given twice"),
                _ => format!("{one} does not go with {}", others.join(" and ")),
            }
        }
        _ => {
            let text = answer.to_string();
            text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    };
    format!("{command}: {why}; `{command} -h` says more")
}

/// Why a value is refused, as a clause that names its option.
pub fn why_not(answer: &clap::Error) -> String {
    let sentence = sentence(answer);
    let (_, why) = sentence.split_once(": ").unwrap_or(("", &sentence));
    why.rsplit_once("; `").map_or(why, |(why, _)| why).to_owned()
}

/// The command that was typed, and its definition.
fn command() -> (String, clap::Command) {
    let (mut names, mut here) = ("switchcost".to_owned(), commands::command_line());
    for word in std::env::args_os().skip(1) {
        let Some(below) = here.find_subcommand(&word).cloned() else { break };
        names = format!("{names} {}", below.get_name());
        here = below;
    }
    (names, here)
}
