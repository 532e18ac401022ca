//! The records as they lie on disk: lines of a run file, and the JSON columns of the store.
//!
//! Integers only, but for the request. Of this version a line that export would not write again
//! byte for byte is refused; of a later one, fields that are not known here are named and left out.
//! A new field is one that old files lack: optional, and not written where it is absent. Field
//! order is the order of writing and part of the format; the fields of runs, of variants, of what a
//! probe said and of what the host saw are those of the model's types.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use switchcost_model::{Disturbance, End, Evidence, Hello, Histogram, PlanEcho, Reason, Samples, Seen, Verdict};

/// Latest format of run files.
pub const FORMAT: u64 = 1;

/// Value of `t` of each line of a run file.
pub mod tag {
    pub const RUN: &str = "run";
    pub const VARIANT: &str = "variant";
    pub const INVOCATION: &str = "invocation";
    pub const END: &str = "end";
}

/// First line of a run file.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunRecord<R> {
    pub t: Cow<'static, str>,
    pub format: u64,
    #[serde(flatten)]
    pub run: R,
}

/// One line per planned variant.
#[derive(Debug, Serialize, Deserialize)]
pub struct VariantRecord<V> {
    pub t: Cow<'static, str>,
    pub index: u64,
    #[serde(flatten)]
    pub variant: V,
    pub not_run: Option<Reason>,
}

/// One line per invocation; a row of table `invocation` with its rows of table `samples`.
///
/// The process id stands beside `hello` and not in it, so that all invocations of a probe share one
/// `hello`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
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
    pub reason: Option<Reason>,
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
    pub fault: Option<switchcost_model::Fault>,
    pub disturbances: Vec<Disturbance>,
    pub log: String,
}
