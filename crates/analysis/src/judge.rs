//! The judge: do the probe's evidence and the host's own view support the claim?
//!
//! `case`: what the rules look at. `broken`: there is no usable answer. `claim`: the evidence
//! speaks against itself or against the mechanism's rule. `each`: the same for `timing=each`.
//! `host`: what the host saw by itself speaks against it. `row`: all starts of a row together.
//! `experiments`: what the host saw by its part in an experiment does. `missing`: something that
//! the rule needs was not told. `again`: the same for runs that are stored. `constants`: the
//! numbers of all of them.

mod again;
mod broken;
mod case;
mod claim;
mod constants;
mod each;
mod experiments;
mod host;
mod missing;
mod row;

use case::Case;
use switchcost_model::{Disturbance, EndStatus, EvidenceRule, Judgement, Plan, Reason, Seen, Verdict};

pub use again::{Changed, bounds_of, judge_again, judge_again_by};
pub use broken::{departures, leave_ms, no_answer};
pub use case::{Bound, Bounds, Content, ProbeAnswer};
pub(crate) use claim::turns_agree;
pub use constants::Constants;
pub use experiments::found;
pub(crate) use experiments::{in_no_figure, rules};
pub(crate) use row::{below_reading, contradiction as contradiction_of_row};

/// Is it contradicted for a start that, honestly told, went another way than its row names? Few of
/// such say nothing of the others.
#[must_use]
pub fn went_another_way(judgement: &Judgement) -> bool {
    judgement.verdict == Verdict::Contradicted && matches!(judgement.reason, Some(Reason::OtherWay { .. }))
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

/// Judges one invocation by the mechanism's rule.
#[must_use]
pub fn judge(rule: &EvidenceRule, plan: &Plan, answer: &ProbeAnswer<'_>) -> Ruling {
    judge_by(&Constants::OURS, rule, plan, answer)
}

/// The same by other constants, which shows what each of ours is for. A start that a stranger
/// traces accuses nobody: its stops are in every count.
#[must_use]
pub fn judge_by(constants: &Constants, rule: &EvidenceRule, plan: &Plan, answer: &ProbeAnswer<'_>) -> Ruling {
    let mut ruling = untraced(constants, rule, plan, answer);
    if let Some(by) = answer.seen.and_then(Seen::tracer).map(str::to_owned) {
        if ruling.judgement.verdict == Verdict::Contradicted {
            ruling = Ruling::new(Verdict::Unobservable, Reason::Traced { by: by.clone() });
        }
        ruling.disturbances.push(Disturbance::Traced { by });
    }
    ruling
}

fn untraced(constants: &Constants, rule: &EvidenceRule, plan: &Plan, answer: &ProbeAnswer<'_>) -> Ruling {
    if let Some(reason) = broken::crowded(constants, plan, answer) {
        return Ruling::new(Verdict::Unsupported, reason);
    }
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
    let by_part = rules(case.experiment());
    if let Some(reason) = (by_part.refused)(&case) {
        return Ruling::new(Verdict::Unsupported, reason);
    }
    let against = claim::contradiction(&case).or_else(|| each::contradiction(&case));
    let against = against.or_else(|| host::contradiction(&case)).or_else(|| (by_part.contradiction)(&case));
    let against = against.or_else(|| claim::wrong_rate(transcript)).or_else(|| claim::too_short(&case));
    if let Some(reason) = against {
        return Ruling::new(Verdict::Contradicted, reason);
    }
    if let Some(reason) = (by_part.overloaded)(&case) {
        return Ruling::new(Verdict::Unsupported, reason);
    }
    let judgement = match missing::reason(&case).or_else(|| (by_part.missing)(&case)) {
        Some(reason) => Judgement::new(Verdict::Unobservable, reason),
        None => Judgement::VERIFIED,
    };
    Ruling { judgement, disturbances: claim::disturbed_by_others(&case).into_iter().collect() }
}

/// All that the rule needs of the probe and that its evidence lacks, by field.
#[must_use]
pub fn untold<'a>(rule: &'a EvidenceRule, plan: &'a Plan, answer: &ProbeAnswer<'a>) -> Vec<(&'a str, Reason)> {
    let (transcript, seen, bound) = (answer.transcript, answer.seen, answer.bound);
    let (Some(evidence), Some(echo)) = (&transcript.evidence, &transcript.plan) else { return Vec::new() };
    missing::untold(&Case { constants: &Constants::OURS, rule, plan, echo, transcript, evidence, seen, bound })
}

#[cfg(test)]
mod tests;
