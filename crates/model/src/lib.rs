//! Plain types that every other crate may use: ids, variants, plans, transcripts, verdicts, runs.
//!
//! Nothing here does I/O. What a probe said (plan, samples, histograms, evidence, end) and what the
//! host saw have one serialised form, which the wire, the store and results share; headers of
//! messages, files and results are those of `protocol`, `store` and `report`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod capability;
mod core_clock;
mod counters;
pub mod cpu_list;
mod difference;
mod disturbance;
mod evidence_rule;
mod experiment;
mod fault;
mod finding;
mod foreign;
mod harmless;
mod host;
mod id;
mod machine_key;
mod mechanism;
pub mod number;
mod obstacle;
mod placement;
mod quantity;
mod reason;
mod reason_data;
mod remark;
mod request;
mod run;
mod seen;
mod sight;
mod silence;
mod texts;
mod transcript;
mod utc;
mod value;
mod variant;
mod verdict;
mod wanted;
mod word;

pub use capability::Capabilities;
pub use core_clock::{CoreClock, MHZ_MEASURED, MHZ_STORED, Shortfall};
pub use counters::{CountedStart, Counter, Counters, PerUnit};
pub use difference::{Difference, IDLE_REQUEST, KERNEL_CHECKS, LIVEPATCH, NOBODY, agree, apart, cut, differences};
pub use disturbance::{Disturbance, Throttle};
pub use evidence_rule::{EvidenceCase, EvidenceChange, EvidenceRule, RuleNumber};
pub use experiment::{Asked, Experiment, Inquiry, Live, measuring, quantities};
pub use fault::{Broken, Fault};
pub use finding::{Finding, FindingText, Severity, has_case};
pub use foreign::{decoded, foreign};
pub use harmless::{MOST_SHOWN, harmless, harmless_line, harmless_lines};
pub use host::*;
pub use id::IdError;
pub use machine_key::{
    HARDWARE_FACTS, SOFTWARE_FACTS, counts, hardware_key, is_known, machine_key, software_key, unknown,
};
pub use mechanism::{
    Counted, CountedShare, Family, Headline, Install, Mechanism, NAMED_PRIORITY, Parameter, ParameterKind, ProbeInfo,
};
pub use obstacle::Obstacle;
pub use placement::{CpuRole, Place, Placement};
pub use quantity::{Measure, Quantity};
pub use reason::{LastWords, Reason};
pub use remark::{Fact, Remark, has_remark};
pub use request::Request;
pub use run::{EndedBy, Invocation, Machine, ProcessEnd, Run};
pub use seen::{Seen, TASKS_LOOKED_AT, TaskFacts, Tree};
pub use sight::{Count, NAMESPACES, Sight};
pub use silence::{Silence, TightLimit, TightLimits};
pub use texts::change_texts;
pub use transcript::{
    Clock, Described, End, EndStatus, Evidence, Hello, Histogram, Hops, KernelSwitches, PageFaults, Phase, PlanEcho,
    Samples, Transcript, Turns, Unavailable,
};
pub use utc::Utc;
pub use value::{Value, commonest_first};
pub use variant::{MechanismId, Parameters, Plan, TWIN, Timing, Variant};
pub use verdict::{Judgement, Verdict};
pub use wanted::{Explanation, Layer, Residue, Term, Wanted};
pub use word::{Page, Word, Words};
