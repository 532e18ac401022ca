//! `doctor`: what makes numbers here untrustworthy, and whether a gate lets them be measured.

use clap::Parser;
use std::time::Instant;
use switchcost_analysis::{DoctorGate, GateOutcome};
use switchcost_catalogue::grammar::did_you_mean;
use switchcost_machine::watch::Watch;
use switchcost_model::{Finding, MHZ_MEASURED, Machine, Severity, hardware_key};
use switchcost_report::{doctor_gate_text, doctor_json, findings_text};
use switchcost_session::arguments::ListFormat;
use switchcost_session::{Action, Exit, Failure, output, paths};
use switchcost_store::Store;

/// What makes numbers here unreliable, by how much, and the cure
///
///   switchcost doctor                               what to know before a figure is trusted
///   switchcost doctor --gate && switchcost run      measure only where no finding is a warning
///   switchcost doctor --gate --accept idle_wakeup --format json
#[derive(Parser, Debug)]
#[command(name = "doctor", verbatim_doc_comment)]
pub struct Doctor {
    /// Also list checks that passed
    #[arg(short, long)]
    pub verbose: bool,
    /// Is this machine fit to measure? End with 1 if a finding is as severe as this: warning, or
    /// note for either [default: warning]
    #[arg(long, value_name = "SEVERITY", num_args = 0..=1, require_equals = true, default_missing_value = "warning", value_parser = parse_gate)]
    pub gate: Option<Severity>,
    /// Findings that the gate lets through, such as idle_wakeup where only rows on one CPU count
    #[arg(long, value_name = "ID,...", value_delimiter = ',', requires = "gate")]
    pub accept: Vec<String>,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
}

impl Action for Doctor {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let since = Watch::allowed();
        let mut machine = switchcost_machine::fingerprint();
        machine.findings = switchcost_machine::doctor(since, &machine, stored_mhz(&machine));
        check_accepted(&self.accept, &machine.findings)?;
        let gate = self.gate.map(|severity| DoctorGate::new(severity, &self.accept, &machine.findings));
        output::print(&match self.format {
            ListFormat::Table => {
                let text = findings_text(&machine.findings, self.verbose, output::style());
                text + &gate.as_ref().map(doctor_gate_text).unwrap_or_default()
            }
            ListFormat::Json => doctor_json(&machine, gate.as_ref()),
        })?;
        Ok(match gate {
            Some(gate) if gate.outcome == GateOutcome::Failed => Exit::Difference,
            _ => Exit::Fine,
        })
    }
}

/// The highest clock of the core in the stored runs of this machine; without a store it is unknown.
fn stored_mhz(machine: &Machine) -> Option<f64> {
    let store = Store::open_read_only(&paths::store(None).ok()?).ok()?;
    store.highest(MHZ_MEASURED, &hardware_key(&machine.stable)).ok()?
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

fn parse_gate(text: &str) -> Result<Severity, String> {
    match text.parse() {
        Ok(severity @ (Severity::Note | Severity::Warning)) => Ok(severity),
        _ => Err("it is warning or note".into()),
    }
}
