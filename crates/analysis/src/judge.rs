//! The judge: do the probe's evidence and the host's own view support the claim?
//!
//! `broken`: there is no usable answer. `claim`: the evidence speaks against itself or against the mechanism's rule. `each`: the same for
//! `timing=each`. `host`: what the host saw by itself speaks against it. `row`: all starts of a row together. `open_loop`: times
//! that were fixed beforehand did not pass, or the load was not there. `missing`: something that the rule needs was not told. `again`: the same for
//! runs that are stored. `constants`: the numbers of all of them.

mod again;
mod broken;
mod claim;
mod constants;
mod each;
mod host;
mod missing;
mod open_loop;
mod row;

use switchcost_model::{
    Disturbance, EndStatus, Evidence, EvidenceRule, Experiment, Judgement, Plan, PlanEcho, ProcessEnd, Reason, Seen,
    Transcript, Verdict,
};

pub use again::{Changed, bounds_of, judge_again};
pub(crate) use claim::turns_agree;
pub use constants::Constants;
pub(crate) use row::{below_reading, contradiction as contradiction_of_row};

/// One answer of a probe, and what the host saw of it.
#[derive(Debug, Clone, Copy)]
pub struct ProbeAnswer<'a> {
    /// What the probe said.
    pub transcript: &'a Transcript,
    /// How its process ended.
    pub process: ProcessEnd,
    /// The end of what it printed.
    pub log: &'a str,
    /// What the host saw by itself.
    pub seen: Option<&'a Seen>,
    /// What no unit of the mechanism can be faster than.
    pub bound: &'a Bounds,
}

/// What bounds the units of a row from below.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bounds {
    /// A loop that does less.
    pub control: Bound,
    /// What a unit contains, where the run measured it.
    pub content: Option<Content>,
}

/// What every unit contains, as rows of the same run say.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The rows.
    pub of: String,
    /// ns that a unit takes at least.
    pub least_ns: f64,
}

/// A control that does less than any unit of a mechanism.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Bound {
    /// The mechanism's page names none.
    #[default]
    None,
    /// The page names some, of which the run has no verified start.
    Unmeasured,
    /// As the run measured it.
    Measured {
        /// Its mechanism.
        mechanism: String,
        /// Its fastest batch, ns per iteration.
        ns: f64,
        /// Starts that it was measured in.
        starts: usize,
    },
}

/// Is it contradicted for a start that, honestly told, went another way than its row names? Few of such say nothing of the others.
#[must_use]
pub fn went_another_way(judgement: &Judgement) -> bool {
    judgement.verdict == Verdict::Contradicted && matches!(judgement.reason, Some(Reason::OtherWay { .. }))
}

/// How long a probe may take to leave after `end`, ms. The kernel takes a container apart in 2, a busy machine in more; a helper of the idle class had to wait
/// for 1.5 s beside a build until it could end.
#[must_use]
pub fn leave_ms(contexts: u64) -> u64 {
    5000 + 10 * contexts.min(1000)
}

/// Judgement of one invocation, and what strangers did to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// Verdict and reason.
    pub judgement: Judgement,
    /// Kernel switches that the mechanism does not explain but that do not refute it.
    pub disturbances: Vec<Disturbance>,
}

impl Ruling {
    fn new(verdict: Verdict, reason: Reason) -> Self {
        Self { judgement: Judgement::new(verdict, reason), disturbances: Vec::new() }
    }
}

/// What every part of the judge looks at: a complete answer of status `ok`.
#[derive(Clone, Copy)]
struct Case<'a> {
    constants: &'a Constants,
    rule: &'a EvidenceRule,
    plan: &'a Plan,
    echo: &'a PlanEcho,
    transcript: &'a Transcript,
    evidence: &'a Evidence,
    seen: Option<&'a Seen>,
    bound: &'a Bounds,
}

impl Case<'_> {
    fn experiment(&self) -> Experiment {
        self.plan.variant.experiment
    }

    /// A ring whose contexts take turns, so that order, token and CPUs of hops exist.
    fn is_ring(&self) -> bool {
        self.experiment().ring && self.rule.turns
    }
}

/// Judges one invocation by the mechanism's rule.
#[must_use]
pub fn judge(rule: &EvidenceRule, plan: &Plan, answer: &ProbeAnswer<'_>) -> Ruling {
    judge_by(&Constants::OURS, rule, plan, answer)
}

/// The same by other constants, which shows what each of ours is for.
#[must_use]
pub fn judge_by(constants: &Constants, rule: &EvidenceRule, plan: &Plan, answer: &ProbeAnswer<'_>) -> Ruling {
    if let Some(reason) = broken::reason(plan, answer) {
        return Ruling::new(Verdict::Broken, reason);
    }
    let transcript = answer.transcript;
    let Some(end) = &transcript.end else { return Ruling::new(Verdict::Broken, Reason::NoEvidence) };
    let detail = || end.detail.clone().unwrap_or_default();
    match end.status {
        EndStatus::Ok => {}
        EndStatus::Unsupported => return Ruling::new(Verdict::Unsupported, Reason::Unsupported { detail: detail() }),
        EndStatus::Refused => return Ruling::new(Verdict::Broken, Reason::Refused { detail: detail() }),
        EndStatus::Failed => return Ruling::new(Verdict::Broken, Reason::Failed { detail: detail() }),
    }
    let (Some(evidence), Some(echo)) = (&transcript.evidence, &transcript.plan) else {
        return Ruling::new(Verdict::Broken, Reason::NoEvidence);
    };
    let case = Case { constants, rule, plan, echo, transcript, evidence, seen: answer.seen, bound: answer.bound };
    if let Some(reason) = open_loop::refused(&case) {
        return Ruling::new(Verdict::Unsupported, reason);
    }
    let against = claim::contradiction(&case).or_else(|| each::contradiction(&case));
    let against = against.or_else(|| host::contradiction(&case)).or_else(|| open_loop::contradiction(&case));
    let against = against.or_else(|| claim::wrong_rate(transcript));
    if let Some(reason) = against {
        return Ruling::new(Verdict::Contradicted, reason);
    }
    if let Some(reason) = open_loop::overloaded(&case) {
        return Ruling::new(Verdict::Unsupported, reason);
    }
    let judgement = match missing::reason(&case).or_else(|| open_loop::missing(&case)) {
        Some(reason) => Judgement::new(Verdict::Unobservable, reason),
        None => Judgement::VERIFIED,
    };
    Ruling { judgement, disturbances: claim::disturbed_by_others(&case).into_iter().collect() }
}

#[cfg(test)]
mod tests;
