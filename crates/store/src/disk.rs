//! The records as they lie on disk: lines of a run file, and the JSON columns of the store.
//!
//! Integers only. An unknown field is an error (format 1 is closed: what this version does not know it would lose on the
//! next export). Field order is the order of writing and part of the format; the fields of what a probe said, and of what the host saw, are those
//! of the model's types.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use switchcost_model::{
    Disturbance, End, EndedBy, Evidence, Hello, Histogram, Machine, PlanEcho, Request, Samples, Seen, Variant, Verdict,
};

/// Latest format of run files.
pub const FORMAT: u64 = 1;

/// Value of `t` of each line of a run file.
pub mod tag {
    pub const RUN: &str = "run";
    pub const VARIANT: &str = "variant";
    pub const INVOCATION: &str = "invocation";
    pub const END: &str = "end";
}

/// First line of a run file; a row of table `run`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    pub t: Cow<'static, str>,
    pub format: u64,
    pub id: String,
    pub started_unix_ns: i64,
    pub ended_unix_ns: Option<i64>,
    pub ended_by: EndedBy,
    pub seed: u64,
    pub tool_version: String,
    pub method_version: u32,
    pub command: Vec<String>,
    pub request: Request,
    pub precision_ppm: u64,
    pub budget_ms: u64,
    pub machine: Machine,
}

/// One line per planned variant; a row of table `variant`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantRecord {
    pub t: Cow<'static, str>,
    pub index: u64,
    #[serde(flatten)]
    pub variant: Variant,
    pub not_run: Option<String>,
}

/// One line per invocation; a row of table `invocation` with its rows of table `samples`.
///
/// The process id stands beside `hello` and not in it, so that all invocations of a probe share one `hello`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvocationRecord {
    pub t: Cow<'static, str>,
    pub variant: u64,
    pub round: u64,
    pub sequence: u64,
    pub started_unix_ns: i64,
    pub wall_ns: u64,
    pub cpus: Vec<u32>,
    pub environment_padding: u64,
    pub peak_rss_bytes: u64,
    pub process: String,
    pub process_code: Option<i32>,
    pub verdict: Verdict,
    pub reason: String,
    pub pid: Option<u64>,
    pub hello: Option<Hello>,
    pub plan: Option<PlanEcho>,
    pub samples: Vec<Samples>,
    pub histograms: Vec<Histogram>,
    pub evidence: Option<Evidence>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    pub notes: Vec<String>,
    pub end: Option<End>,
    pub fault: Option<String>,
    pub disturbances: Vec<Disturbance>,
    pub log: String,
}
