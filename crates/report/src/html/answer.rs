//! An answer of `audit`, out of a file, for a page.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What `switchcost audit --format json` printed. The page takes each of its values for what it can
/// be, so that nothing more need be known of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct AuditAnswer(Value);

impl AuditAnswer {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with the text, as a clause.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON ({error})"))?;
        let whole = value["sentence"].is_string() && value["kinds"].is_array() && value["share_of_a_cpu"].is_object();
        if whole { Ok(Self(value)) } else { Err("it is not an answer of `audit`".to_owned()) }
    }
}
