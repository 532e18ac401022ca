//! `doctor`: what makes numbers here untrustworthy, and whether a gate lets them be measured.

use crate::arguments::{self, ListFormat};
use switchcost_catalogue::grammar::did_you_mean;
use switchcost_model::Finding;
use switchcost_report::{DoctorGate, GateOutcome, doctor_json, findings_text};
use switchcost_session::{Exit, Failure, output};

/// Examines the machine.
pub fn doctor(arguments: &arguments::Doctor) -> Result<Exit, Failure> {
    let mut machine = switchcost_machine::fingerprint();
    machine.findings = switchcost_machine::doctor();
    check_accepted(&arguments.accept, &machine.findings)?;
    let gate = arguments.gate.map(|severity| DoctorGate::new(severity, &arguments.accept, &machine.findings));
    output::print(&match arguments.format {
        ListFormat::Table => {
            let text = findings_text(&machine.findings, arguments.verbose, output::style());
            text + &gate.as_ref().map(DoctorGate::text).unwrap_or_default()
        }
        ListFormat::Json => doctor_json(&machine, gate.as_ref()),
    })?;
    Ok(match gate {
        Some(gate) if gate.outcome == GateOutcome::Failed => Exit::Difference,
        _ => Exit::Fine,
    })
}

/// A misspelt id would let nothing through.
fn check_accepted(accepted: &[String], findings: &[Finding]) -> Result<(), Failure> {
    let known = || findings.iter().map(|finding| finding.id.as_str());
    match accepted.iter().find(|id| !known().any(|known| known == id.as_str())) {
        None => Ok(()),
        Some(id) => Err(Failure::usage(format!(
            "--accept {id}: doctor has no finding of this id{}; `doctor -v` lists them",
            did_you_mean(id, known())
        ))),
    }
}
