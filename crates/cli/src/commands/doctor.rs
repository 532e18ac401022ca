//! `doctor`: what makes numbers here untrustworthy.

use crate::arguments::{self, ListFormat};
use crate::exit::{Exit, Failure};
use crate::output;
use switchcost_report::{findings_text, machine_json};

/// Examines the machine.
pub fn doctor(arguments: &arguments::Doctor) -> Result<Exit, Failure> {
    let mut machine = switchcost_machine::fingerprint();
    machine.findings = switchcost_machine::doctor();
    output::print(&match arguments.format {
        ListFormat::Table => findings_text(&machine.findings, arguments.verbose, output::style()),
        ListFormat::Json => machine_json(&machine),
    })?;
    Ok(Exit::Fine)
}
