//! `doctor`'s answer for scripts, and what its gate says.

use crate::formats::json::MachinePart;
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::DoctorGate;
use switchcost_model::{Machine, Severity};

/// One line.
#[must_use]
pub fn doctor_gate_text(gate: &DoctorGate) -> String {
    match gate.findings.as_slice() {
        [] => format!("PASS (gate {})\n", gate.severity),
        findings => {
            let (named, accepted) = (findings.join(", "), findings.join(","));
            format!("FAIL (gate {}): {named}; to let them through: --accept {accepted}\n", gate.severity)
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

    #[test]
    fn severities_are_stable_words() {
        let words: Vec<&str> = Severity::ALL.iter().map(|severity| severity.as_str()).collect();
        assert_eq!(words, ["fine", "note", "warning"]);
        let schema: serde_json::Value = serde_json::from_str(&doctor_schema()).unwrap();
        assert_eq!(schema["properties"]["worst"]["enum"], serde_json::json!(words));
        assert_eq!(schema["$defs"]["Finding"]["properties"]["severity"]["enum"], serde_json::json!(words));
    }
}
