//! `doctor`'s answer for scripts, and its gate: is this machine fit to measure?

use crate::formats::json::MachinePart;
use crate::gate::GateOutcome;
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_model::{Finding, Machine, Severity};

/// The gate and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DoctorGate {
    /// Findings of this severity and above fail.
    #[serde(serialize_with = "word")]
    #[schemars(with = "String", extend("enum" = ["note", "warning"]))]
    pub severity: Severity,
    /// Ids of findings that are let through.
    pub accepted: Vec<String>,
    /// Passed or failed.
    pub outcome: GateOutcome,
    /// Ids of the findings that fail it.
    pub findings: Vec<String>,
}

impl DoctorGate {
    /// Judges findings.
    #[must_use]
    pub fn new(severity: Severity, accepted: &[String], findings: &[Finding]) -> Self {
        let fails = |finding: &&Finding| finding.severity >= severity && !accepted.contains(&finding.id);
        let findings: Vec<String> = findings.iter().filter(fails).map(|finding| finding.id.clone()).collect();
        let outcome = if findings.is_empty() { GateOutcome::Passed } else { GateOutcome::Failed };
        Self { severity, accepted: accepted.to_vec(), outcome, findings }
    }

    /// One line.
    #[must_use]
    pub fn text(&self) -> String {
        match self.findings.as_slice() {
            [] => format!("gate {}: passed\n", self.severity),
            findings => format!("gate {}: failed: {}\n", self.severity, findings.join(", ")),
        }
    }
}

fn word<S: serde::Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(severity)
}

/// What `doctor` says of a machine.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "switchcost doctor", deny_unknown_fields)]
struct DoctorDocument<'a> {
    /// Version of this form. New fields do not change it.
    format: u32,
    /// The most severe finding.
    #[serde(serialize_with = "word")]
    #[schemars(with = "String", extend("enum" = ["fine", "note", "warning"]))]
    worst: Severity,
    /// Null without --gate.
    gate: Option<&'a DoctorGate>,
    machine: MachinePart,
}

/// `doctor --format json`.
#[must_use]
pub fn doctor_json(machine: &Machine, gate: Option<&DoctorGate>) -> String {
    let worst = machine.findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Fine);
    crate::text::json(&DoctorDocument { format: 1, worst, gate, machine: machine.into() })
}

/// JSON Schema of [`doctor_json`]'s object.
#[must_use]
pub fn doctor_schema() -> String {
    crate::text::json(&schemars::schema_for!(DoctorDocument<'_>))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, severity: Severity) -> Finding {
        Finding { id: id.into(), severity, what: String::new(), effect: String::new(), cure: String::new() }
    }

    #[test]
    fn a_gate_fails_by_severity_and_lets_through_what_is_accepted() {
        let findings = [
            finding("smt", Severity::Fine),
            finding("hypervisor", Severity::Note),
            finding("steal", Severity::Warning),
        ];
        let failed = |severity, accepted: &[&str]| {
            let accepted: Vec<String> = accepted.iter().map(|id| (*id).to_owned()).collect();
            DoctorGate::new(severity, &accepted, &findings).text()
        };
        assert_eq!(failed(Severity::Warning, &[]), "gate warning: failed: steal\n");
        assert_eq!(failed(Severity::Note, &[]), "gate note: failed: hypervisor, steal\n");
        assert_eq!(failed(Severity::Note, &["steal"]), "gate note: failed: hypervisor\n");
        assert_eq!(failed(Severity::Warning, &["steal"]), "gate warning: passed\n");
    }

    #[test]
    fn severities_are_stable_words() {
        let words: Vec<&str> = Severity::ALL.iter().map(|severity| severity.as_str()).collect();
        assert_eq!(words, ["fine", "note", "warning"]);
        let schema: serde_json::Value = serde_json::from_str(&doctor_schema()).unwrap();
        assert_eq!(schema["properties"]["worst"]["enum"], serde_json::json!(words));
        assert_eq!(schema["$defs"]["Finding"]["properties"]["severity"]["enum"], serde_json::json!(words));
    }
}
