//! `generate`: what is derived from the command line and from types. Called by the Makefile.

use crate::arguments::Arguments;
use crate::exit::{Exit, Failure};
use crate::output::write_file;
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;

/// Writes man pages, completions and schema.
pub fn generate(folder: &Path) -> Result<Exit, Failure> {
    let unusable = |error: std::io::Error| Failure::usage(format!("cannot write to {}: {error}", folder.display()));
    for sub in ["man", "completions"] {
        std::fs::create_dir_all(folder.join(sub)).map_err(unusable)?;
    }
    clap_mangen::generate_to(Arguments::command(), folder.join("man")).map_err(unusable)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut Arguments::command(), "switchcost", folder.join("completions"))
            .map_err(unusable)?;
    }
    for (name, text) in [
        ("results", switchcost_report::schema()),
        ("crosscheck", switchcost_report::crosscheck_schema()),
        ("compare", switchcost_report::compare_schema()),
        ("explain", switchcost_report::explain_schema()),
        ("history", switchcost_report::trends_schema()),
        ("classic", switchcost_report::classic_schema()),
    ] {
        write_file(&folder.join(format!("{name}.schema.json")), text.as_bytes())?;
    }
    Ok(Exit::Fine)
}
