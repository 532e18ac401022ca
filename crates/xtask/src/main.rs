//! What is derived from the code and from kept runs. `cargo run -p xtask -- --help` says what there
//! is; the Makefile calls it.

mod book;
mod cells;
mod claims;
#[cfg(test)]
#[path = "complaints/tests.rs"]
mod complaints;
mod documents;
mod outputs;
mod pages;
mod places;
mod reasons;
mod runtimes;

use anyhow::Context;
use clap::Parser;
use clap_complete::Shell;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes what is derived from the code
#[derive(Parser)]
enum Task {
    /// Man pages, completions and schemas, as they are installed
    Share {
        /// Folder for them
        folder: PathBuf,
    },
    /// The documents of this repository: schemas, pages with figures and output of kept runs,
    /// command line
    Documents {
        /// Change nothing; fail if a document is not what the code gives
        #[arg(long)]
        check: bool,
    },
    /// Whether the claims of docs/write-ups and docs/findings hold for the runs in a folder
    Claims {
        /// Folder that scripts/answers measured into
        folder: PathBuf,
    },
    /// The rows that a run of docs/runtimes.md has to measure, one a line
    Runtimes {
        /// Its name in data/runtimes.toml
        run: String,
    },
    /// The sources of the book: every page of this repository, and one for each mechanism
    Book {
        /// Folder for them
        folder: PathBuf,
    },
    /// README's table of platforms, from standard input
    Platforms {
        /// Change nothing; fail if README says otherwise. What could not be tried is not compared
        #[arg(long)]
        check: bool,
    },
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Share { folder } => share(&folder),
        Task::Documents { check } => documents::derive(check),
        Task::Claims { folder } => claims::check(&folder),
        Task::Runtimes { run } => runtimes::print(&run),
        Task::Book { folder } => book::book(&folder),
        Task::Platforms { check } => documents::platforms(check),
    }
}

fn share(folder: &Path) -> anyhow::Result<()> {
    let context = || format!("cannot write to {}", folder.display());
    for sub in ["man", "completions"] {
        fs::create_dir_all(folder.join(sub)).with_context(context)?;
    }
    let mut command = switchcost::derived::command();
    clap_mangen::generate_to(command.clone(), folder.join("man")).with_context(context)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "switchcost", folder.join("completions"))
            .with_context(context)?;
    }
    documents::schemas()
        .into_iter()
        .try_for_each(|(name, text)| fs::write(folder.join(name), text))
        .with_context(context)
}
