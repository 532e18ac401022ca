//! What is derived from the code and from kept runs. `cargo run -p xtask -- --help` says what there is; the Makefile calls it.

mod documents;

use anyhow::Context;
use clap::Parser;
use clap_complete::Shell;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Writes what is derived from the code
#[derive(Parser)]
enum Task {
    /// Man pages, completions and schemas, as they are installed
    Share {
        /// Folder for them
        folder: PathBuf,
    },
    /// The documents of this repository: schemas, ladder, answers, command line
    Documents {
        /// Change nothing; fail if a document is not what the code gives
        #[arg(long)]
        check: bool,
    },
    /// docs/answers.md as it would be with the runs in another folder, to standard output
    Answers {
        /// Folder that scripts/answers measured into
        folder: PathBuf,
    },
    /// The starts of run files KIND-NAME.jsonl of a folder, for data/fleet-starts.tsv, to standard output
    FleetStarts {
        /// Folder that `fleet plan` or `run` wrote into
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
        Task::Answers { folder } => {
            std::io::stdout().write_all(documents::answers(&folder)?.as_bytes()).context("cannot write the page")
        }
        Task::FleetStarts { folder } => fleet_starts(&folder),
        Task::Platforms { check } => documents::platforms(check),
    }
}

fn fleet_starts(folder: &Path) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let kind = name.split('-').next().unwrap_or_default();
        let text = switchcost::derived::fleet_starts(kind, &file).map_err(anyhow::Error::msg)?;
        std::io::stdout().write_all(text.as_bytes()).context("cannot write the starts")?;
    }
    Ok(())
}

/// Each schema by the name of its file.
fn schemas() -> [(&'static str, String); 7] {
    [
        ("classic.schema.json", switchcost_report::classic_schema()),
        ("compare.schema.json", switchcost_report::compare_schema()),
        ("crosscheck.schema.json", switchcost_report::crosscheck_schema()),
        ("explain.schema.json", switchcost_report::explain_schema()),
        ("fleet.schema.json", switchcost_report::fleet_schema()),
        ("history.schema.json", switchcost_report::trends_schema()),
        ("results.schema.json", switchcost_report::schema()),
    ]
}

fn share(folder: &Path) -> anyhow::Result<()> {
    let said = || format!("cannot write to {}", folder.display());
    for sub in ["man", "completions"] {
        fs::create_dir_all(folder.join(sub)).with_context(said)?;
    }
    let mut command = switchcost::derived::command();
    clap_mangen::generate_to(command.clone(), folder.join("man")).with_context(said)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "switchcost", folder.join("completions")).with_context(said)?;
    }
    schemas().into_iter().try_for_each(|(name, text)| fs::write(folder.join(name), text)).with_context(said)
}
