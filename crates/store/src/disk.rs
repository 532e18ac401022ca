//! The records as they lie on disk: lines of a run file, and the JSON columns of the store.
//!
//! Integers only. An unknown field is an error (format 1 is closed: what this version does not know it would lose on the
//! next export). Field order is the order of writing and part of the format.

mod convert;

pub use convert::{Unreadable, begin, header_of, push_variant};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

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
    pub ended_by: String,
    pub seed: u64,
    pub tool_version: String,
    pub method_version: u32,
    pub command: Vec<String>,
    pub precision_ppm: u64,
    pub budget_ms: u64,
    pub machine: Machine,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub stable: BTreeMap<String, String>,
    pub drifting: BTreeMap<String, String>,
    pub personal: BTreeMap<String, String>,
    pub findings: Vec<Finding>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    pub id: String,
    pub severity: String,
    pub what: String,
    pub effect: String,
    pub cure: String,
}

/// One line per planned variant; a row of table `variant`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantRecord {
    pub t: Cow<'static, str>,
    pub index: u64,
    pub mechanism: String,
    pub probe: String,
    pub experiment: String,
    pub contexts: u64,
    pub placement: String,
    pub timing: String,
    pub parameters: BTreeMap<String, String>,
    pub label: String,
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
    pub verdict: String,
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

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disturbance {
    pub kind: String,
    pub detail: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    pub name: String,
    pub ticks_per_second: u64,
    pub read_cost_ticks: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    pub protocol: u64,
    pub probe: String,
    pub version: String,
    pub runtime: String,
    pub compiler: Option<String>,
    pub flags: Option<String>,
    pub clock: Clock,
    pub counter: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEcho {
    pub mechanism: String,
    pub experiment: String,
    pub contexts: u64,
    pub timing: String,
    pub cpus: Vec<u32>,
    pub batch_units: u64,
    pub batches: u64,
    pub warmup_batches: u64,
    pub parameters: BTreeMap<String, String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    pub phase: String,
    pub units: u64,
    pub quantity: Option<String>,
    pub ticks: Vec<i64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    pub phase: String,
    pub units: u64,
    pub bits: u32,
    pub buckets: Vec<(u64, u64)>,
    pub sum: u64,
    pub min: u64,
    pub max: u64,
    pub pair_sum: u64,
    pub pair_count: u64,
    pub span_counter: u64,
    pub span_clock: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    pub total: u64,
    pub min: u64,
    pub max: u64,
    pub contexts: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSwitches {
    pub voluntary: u64,
    pub involuntary: u64,
    pub tasks: u64,
    pub source: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hops {
    pub count: u64,
    pub in_order: u64,
    pub same_cpu: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_thread: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageFaults {
    pub minor: u64,
    pub major: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub units: u64,
    pub turns: Option<Turns>,
    pub token: Option<u64>,
    pub kernel: Option<KernelSwitches>,
    pub address_spaces: Option<u64>,
    pub cpus: Option<Vec<u32>>,
    pub migrations: Option<u64>,
    pub hops: Option<Hops>,
    pub page_faults: Option<PageFaults>,
    pub gc_cycles: Option<u64>,
    pub counts: BTreeMap<String, i64>,
    pub why: BTreeMap<String, String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    pub pid: u64,
    pub plan_ns: Option<u64>,
    pub first_samples_ns: Option<u64>,
    pub last_samples_ns: Option<u64>,
    pub voluntary: u64,
    pub involuntary: u64,
    pub cpu_ns: u64,
    pub forks: Option<u64>,
    pub strays: u32,
    pub tree: Option<Tree>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    pub tasks: u64,
    pub processes: u64,
    pub most_tasks: u64,
    pub looked_at: u64,
    pub address_spaces: Option<u64>,
    pub namespaces: BTreeMap<String, u64>,
    pub control_groups: Option<u64>,
    pub allowed_cpus: Vec<u32>,
    pub ran_on: Vec<u32>,
    pub switches: u64,
    pub cpu_ns: u64,
    pub knows_pid: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    pub status: String,
    pub code: Option<String>,
    pub detail: Option<String>,
    pub errno: Option<i64>,
    pub samples: u64,
}
