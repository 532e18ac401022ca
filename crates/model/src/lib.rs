//! Plain types that every other crate may use: ids, variants, plans, transcripts, verdicts, runs.
//!
//! Nothing here does I/O or derives a serialization: the wire form lives in `protocol`, the disk form in `store`, the
//! printed form in `report`, and each converts at its own edge.

mod concept;
pub mod cpu_list;
mod evidence_rule;
mod machine_key;
mod observed;
mod run;
mod seen;
mod told;
mod transcript;
mod variant;
mod verdict;
mod wanted;

pub use concept::{Concept, Counted, CountedShare, Family, Headline, Install, Parameter, ParameterKind, ProbeInfo};
pub use evidence_rule::{EvidenceCase, EvidenceChange, EvidenceRule, RuleNumber};
pub use machine_key::{KEY_FACTS, machine_key};
pub use observed::{Observed, PriceRule, SwitchKind, ThreadSeen, Working};
pub use run::{Disturbance, EndedBy, Finding, Invocation, Machine, ProcessEnd, Run, Severity};
pub use seen::{Seen, Tree};
pub use told::{MOST_TOLD, told, told_line, told_lines};
pub use transcript::{
    Clock, Described, End, EndStatus, Evidence, Hello, Histogram, Hops, KernelSwitches, PageFaults, Phase, PlanEcho,
    Samples, Transcript, Turns, Unavailable,
};
pub use variant::{Experiment, IdError, MechanismId, Parameters, Placement, Plan, TWIN, Timing, Variant};
pub use verdict::{Judgement, Verdict};
pub use wanted::{Explanation, Layer, Residue, Term, Wanted};
