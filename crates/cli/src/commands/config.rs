//! `config`: which defaults hold, and from where.

use crate::arguments::{COMMAND_LINE, settable};
use clap::{Arg, Command, Parser};
use std::time::Instant;
use switchcost_model::harmless;
use switchcost_session::defaults::{Defaults, in_force, own};
use switchcost_session::{Action, Exit, Failure, output, paths};

/// Show the defaults of options, and where each is from
///
/// They are in ~/.config/switchcost/config.toml (`$XDG_CONFIG_HOME`), or in the file that --config
/// names. No other file is read: a folder that you enter must not choose a store.
///
///   store = "/data/runs.sqlite"
///   [run]
///   budget = "2m"
///   placement = ["one_cpu", "two_cpus"]
#[derive(Parser, Debug)]
#[command(name = "config", verbatim_doc_comment)]
pub struct Config {}

impl Action for Config {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let none = Defaults::default();
        let defaults = in_force().unwrap_or(&none);
        let file = defaults.file.as_ref().map(|file| harmless(&file.display().to_string()));
        let file = file.as_deref();
        let built_in = "built in";
        let mut rows = vec![["option", "value", "from"].map(str::to_owned)];
        let store = harmless(&paths::store(None)?.display().to_string());
        let from = defaults.store().and(file).unwrap_or(built_in);
        rows.push(["store".to_owned(), store, from.to_owned()]);
        for command in COMMAND_LINE.get().into_iter().flat_map(Command::get_subcommands) {
            for arg in settable(command) {
                let (name, option) = (command.get_name(), arg.get_long().unwrap_or_default());
                let given = defaults.options.get(&(name.to_owned(), option.to_owned()));
                let value = given.map_or_else(|| usual(arg), |values| harmless(&values.join(",")));
                let from = given.and(file).unwrap_or(built_in);
                rows.push([format!("{name} --{option}"), value, from.to_owned()]);
            }
        }
        let widths = [0, 1].map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default());
        let line =
            |[option, value, from]: &[String; 3]| format!(" {option:0$}  {value:1$}  {from}\n", widths[0], widths[1]);
        let mut text: String = rows.iter().map(line).collect();
        if file.is_none() {
            let place = own().map_or_else(|| "~/.config".to_owned(), |place| place.display().to_string());
            text.push_str(&format!("  no file is read; {} would be\n", harmless(&place)));
        }
        output::print(&text)?;
        Ok(Exit::Fine)
    }
}

/// What holds without a file, as the option or its help says.
fn usual(arg: &Arg) -> String {
    let given: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let said =
        help.split_once("[default: ").and_then(|(_, rest)| rest.split_once(']')).map(|(said, _)| said.to_owned());
    said.unwrap_or_else(|| if given.is_empty() { "-".to_owned() } else { given.join(",") })
}
