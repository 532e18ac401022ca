//! What is wrong with the arguments, in one sentence that names the flag, the reason and the cure.

use crate::commands;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use switchcost_catalogue::grammar::did_you_mean;

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
    // Without the name of its value.
    let flag = |text: &String| text.split([' ', '=', '[']).next().unwrap_or_default().to_owned();
    let one = arguments.first().map(flag).unwrap_or_default();
    let named = |argument: &str| if argument.starts_with('-') { argument.to_owned() } else { format!("`{argument}`") };
    let why = match answer.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = all(ContextKind::InvalidSubcommand).join(" ");
            return format!(
                "switchcost: there is no command `{word}`{}; `switchcost -h` lists all",
                commands::near(&word)
            );
        }
        ErrorKind::UnknownArgument if one.starts_with('-') => {
            let near = all(ContextKind::SuggestedArg);
            let elsewhere = if one == "--format" { "; `switchcost export` writes formats" } else { "" };
            format!("it has no option {one}{}{elsewhere}", did_you_mean(&one, near.iter().map(String::as_str)))
        }
        ErrorKind::UnknownArgument => format!("it takes nothing more, and there is {}", named(&one)),
        ErrorKind::InvalidValue if value.is_empty() => format!("{one} needs a value"),
        ErrorKind::InvalidValue => {
            let known = all(ContextKind::ValidValue);
            let near = did_you_mean(&value, known.iter().map(String::as_str));
            format!("{} `{value}`: it is one of {}{near}", named(&one), known.join(", "))
        }
        ErrorKind::ValueValidation => {
            let source = answer.source().map_or_else(|| "it is refused".to_owned(), ToString::to_string);
            let source = PLAINER.iter().fold(source, |text, (raw, plain)| text.replace(raw, plain));
            format!("{} `{value}`: {source}", named(&one))
        }
        ErrorKind::MissingRequiredArgument => format!("it needs {}", arguments.join(" and ")),
        ErrorKind::ArgumentConflict => {
            let others: Vec<String> = all(ContextKind::PriorArg).iter().map(flag).collect();
            match others.as_slice() {
                [] => format!("{one} stands alone"),
                [other] if *other == one => format!("{one} is given twice"),
                _ => format!("{one} does not go with {}", others.join(" and ")),
            }
        }
        _ => {
            let text = answer.to_string();
            text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    };
    let command = command();
    format!("{command}: {why}; `{command} -h` says more")
}

/// The command that was typed.
fn command() -> String {
    let (mut names, mut here) = ("switchcost".to_owned(), commands::command_line());
    for word in std::env::args_os().skip(1) {
        let Some(below) = here.find_subcommand(&word).cloned() else { break };
        names = format!("{names} {}", below.get_name());
        here = below;
    }
    names
}
