//! `check-probe` and `check-transcript`.

use clap::Args;
use std::path::PathBuf;
use switchcost_model::MechanismId;

/// `check-probe`.
#[derive(Args, Debug)]
pub struct CheckProbe {
    /// Folder with a probe.toml
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Only these of its mechanisms, such as coroutine/lua [default: all that it describes]
    #[arg(value_name = "MECHANISM", value_parser = super::parse_word::<MechanismId>)]
    pub mechanisms: Vec<MechanismId>,
}

/// `check-transcript`.
#[derive(Args, Debug)]
pub struct CheckTranscript {
    /// What a probe reported; - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also judge it by the page of this mechanism
    #[arg(long, value_name = "ID", value_parser = super::parse_word::<MechanismId>)]
    pub mechanism: Option<MechanismId>,
}
