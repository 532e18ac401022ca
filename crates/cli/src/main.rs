//! The command line: arguments, wiring, exit statuses. The only crate that prints, reads the environment or exits.

mod arguments;
mod commands;
mod exit;
mod output;
mod paths;
mod progress;

use clap::Parser;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    let arguments = arguments::Arguments::parse();
    // Before any probe is started, by whichever command.
    switchcost_machine::spawn::adopt_orphans();
    match commands::dispatch(arguments, started) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            eprintln!("switchcost: {}", failure.sentence);
            failure.exit.into()
        }
    }
}
