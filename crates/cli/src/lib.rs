//! The command line: arguments, wiring. The only crate that exits.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod arguments;
mod commands;
mod defaults;
pub mod derived;
mod features;
mod formats;
mod parallel;
mod programs;
mod refusal;

use std::process::ExitCode;
use std::time::Instant;
use switchcost_model::harmless_line;
use switchcost_session::{Exit, Failure, output};

/// Carries out what was typed.
#[must_use]
pub fn main() -> ExitCode {
    switchcost_machine::spawn::forget_inherited();
    switchcost_machine::with_room(carry_out)
}

fn carry_out() -> ExitCode {
    let started = Instant::now();
    // Help and arguments name them.
    switchcost_session::paths::own_words();
    let typed = commands::command_line().try_get_matches().unwrap_or_else(|answer| refuse(&answer));
    switchcost_machine::interrupt::full_files_are_errors();
    // Before any probe is started, by whichever command.
    switchcost_machine::spawn::adopt_orphans();
    let exit = defaults::applied(typed)
        .map_err(own_status)
        .and_then(|typed| commands::dispatch(&typed, started))
        .unwrap_or_else(|failure| {
            output::say(&format!("switchcost: {}", harmless_line(&failure.sentence)));
            failure.exit
        });
    // A check that is late answers while a probe runs.
    switchcost_machine::spawn::abandon();
    // What ends by Ctrl-C as it should (audit --watch) is fine.
    if exit != Exit::Fine {
        switchcost_machine::interrupt::end_as_asked();
    }
    exit.into()
}

/// Help, or what is wrong with the arguments: that quotes them, and they may come from anywhere.
#[allow(clippy::exit, reason = "the only place beside the end of main, before anything is begun")]
fn refuse(answer: &clap::Error) -> ! {
    if !answer.use_stderr() {
        let shown = output::printed(answer.print());
        shown.as_ref().err().into_iter().for_each(|failure| output::say(&format!("switchcost: {}", failure.sentence)));
        std::process::exit(if shown.is_ok() { answer.exit_code() } else { 2 });
    }
    output::say(&harmless_line(&refusal::sentence(answer)));
    std::process::exit(own_refusal().unwrap_or(answer.exit_code()));
}

/// The status by which the typed command ends when it is refused, if it has one of its own.
fn own_refusal() -> Option<i32> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    commands::all().into_iter().find_map(|command| (command.refusal)(&words))
}

/// The user's defaults are refused as words of the command line are.
fn own_status(failure: Failure) -> Failure {
    let own = own_refusal().and_then(|status| u8::try_from(status).ok());
    Failure { exit: own.map_or(failure.exit, Exit::Other), ..failure }
}
