//! Stored runs judged by the rules of this version, from their evidence alone.

use super::{Bound, ProbeAnswer, Ruling, judge};
use crate::series::values;
use std::collections::BTreeMap;
use switchcost_model::{Invocation, Mechanism, MechanismId, Plan, Reason, Run, Timing, Variant, Verdict};

/// Every ring was asked for at least one hop to be checked; how many, a stored run does not say.
const LEAST_VERIFY_UNITS: u64 = 1;

/// A verdict that these rules change.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// Index of the variant.
    pub variant: usize,
    /// What the file says.
    pub from: Verdict,
    /// What the evidence says.
    pub to: Verdict,
    /// Why; None: nothing speaks against it any more.
    pub reason: Option<Reason>,
}

/// The fastest of the controls that bound a mechanism from below, among these invocations of the run. Its fastest batch, since a disturbed one
/// would accuse falsely.
#[must_use]
pub fn fastest_bound(run: &Run, mechanism: &Mechanism) -> Bound {
    if mechanism.bound.is_empty() {
        return Bound::None;
    }
    let bounding = |invocation: &&Invocation| {
        let variant = &run.variants[invocation.variant];
        variant.experiment.bounded()
            && variant.timing == Timing::Batch
            && mechanism.bound.contains(&variant.mechanism)
            && invocation.judgement.verdict == Verdict::Verified
    };
    let starts = run.invocations.iter().filter(bounding).filter_map(|invocation| {
        let fastest = values(&invocation.transcript).into_iter().min_by(f64::total_cmp)?;
        Some((&run.variants[invocation.variant].mechanism, fastest))
    });
    let starts: Vec<_> = starts.collect();
    let fastest = starts.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
    fastest.map_or(Bound::Unmeasured, |(mechanism, ns)| Bound::Measured {
        mechanism: mechanism.to_string(),
        ns: *ns,
        starts: starts.len(),
    })
}

/// Judges every invocation of a run again and returns what changed, one entry for each variant and pair of verdicts.
///
/// A mechanism that has no page here is unobservable: nobody knows what its evidence must show.
pub fn judge_again(run: &mut Run, mechanisms: &[Mechanism]) -> Vec<Changed> {
    let mut changed: Vec<Changed> = Vec::new();
    // Controls first: others are held against them.
    let is_control = |run: &Run, index: usize| {
        let variant = &run.variants[run.invocations[index].variant];
        mechanisms.iter().any(|mechanism| mechanism.control && mechanism.id == variant.mechanism)
    };
    let (controls, others): (Vec<usize>, Vec<usize>) =
        (0..run.invocations.len()).partition(|&index| is_control(run, index));
    let mut bounds: BTreeMap<&MechanismId, Bound> = BTreeMap::new();
    for index in controls.into_iter().chain(others) {
        let variant_index = run.invocations[index].variant;
        let mechanism = mechanisms.iter().find(|mechanism| mechanism.id == run.variants[variant_index].mechanism);
        let ruling = match mechanism {
            Some(mechanism) => {
                let bound = bounds.entry(&mechanism.id).or_insert_with(|| fastest_bound(run, mechanism));
                ruling(mechanism, &run.variants[variant_index], &run.invocations[index], bound)
            }
            None => Ruling::new(Verdict::Unobservable, Reason::NoRule),
        };
        let invocation = &mut run.invocations[index];
        let (from, to) = (invocation.judgement.verdict, ruling.judgement.verdict);
        if from != to && !changed.iter().any(|c| (c.variant, c.from, c.to) == (variant_index, from, to)) {
            changed.push(Changed { variant: variant_index, from, to, reason: ruling.judgement.reason.clone() });
        }
        invocation.judgement = ruling.judgement;
        invocation.disturbances.retain(|disturbance| disturbance.kind != super::claim::FOREIGN_SWITCHES);
        invocation.disturbances.extend(ruling.disturbances);
    }
    changed.sort_by_key(|changed| changed.variant);
    changed
}

/// What was asked is taken from the probe's echo of it, which was held against the plan when it was measured.
fn ruling(mechanism: &Mechanism, variant: &Variant, invocation: &Invocation, bound: &Bound) -> Ruling {
    let echo = invocation.transcript.plan.as_ref();
    let plan = Plan {
        variant: variant.clone(),
        cpus: invocation.cpus.clone(),
        batch_units: 0,
        batch_ns: 1,
        batches: echo.map_or(0, |echo| echo.batches),
        warmup_batches: echo.map_or(0, |echo| echo.warmup_batches),
        verify_units: LEAST_VERIFY_UNITS,
        seed: 0,
        deadline_ms: invocation.wall_ns / 1_000_000,
    };
    let answer = ProbeAnswer {
        transcript: &invocation.transcript,
        process: invocation.process,
        log: &invocation.log,
        seen: invocation.seen.as_ref(),
        bound,
    };
    judge(&mechanism.rule(variant), &plan, &answer)
}
