//! Stored runs judged by the rules of this version, from their evidence alone.

use super::{Bound, Bounds, Constants, Content, ProbeAnswer, Ruling, in_no_figure, judge_by};
use crate::series::values;
use std::collections::BTreeMap;
use switchcost_model::{
    Disturbance, EvidenceRule, Invocation, Mechanism, MechanismId, Plan, Reason, Run, Timing, Variant, Verdict,
};

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

/// The fastest batch of these rows among the starts that the run has so far, with the row and their
/// number. The fastest, since a disturbed one would accuse falsely.
fn fastest(run: &Run, of: impl Fn(&Variant) -> bool) -> Option<(&MechanismId, f64, usize)> {
    let bounding = |invocation: &&Invocation| {
        let variant = &run.variants[invocation.variant];
        let verified = invocation.judgement.verdict == Verdict::Verified;
        variant.timing == Timing::Batch && of(variant) && verified && !in_no_figure(invocation)
    };
    let starts = run.invocations.iter().filter(bounding).filter_map(|invocation| {
        let fastest = values(&invocation.transcript).into_iter().min_by(f64::total_cmp)?;
        Some((&run.variants[invocation.variant].mechanism, fastest))
    });
    let starts: Vec<_> = starts.collect();
    let (mechanism, ns) = starts.iter().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some((mechanism, *ns, starts.len()))
}

/// What bounds a row from below, by the invocations that the run has so far.
#[must_use]
pub fn bounds_of(constants: &Constants, run: &Run, mechanism: &Mechanism, row: &Variant) -> Bounds {
    let by = |controls: &[MechanismId]| fastest(run, |v| v.experiment.bounded() && controls.contains(&v.mechanism));
    let control = match by(&mechanism.bound) {
        _ if mechanism.bound.is_empty() => Bound::None,
        None => Bound::Unmeasured,
        Some((control, ns, starts)) => Bound::Measured { mechanism: control.to_string(), ns, starts },
    };
    let enough = |starts: usize| starts as f64 >= constants.speaking_starts;
    let contained = mechanism.contains.iter().filter(|_| row.experiment.bounded()).filter_map(|id| {
        let (_, ns, _) = by(std::slice::from_ref(id)).filter(|(_, _, starts)| enough(*starts))?;
        Some(Content { of: id.to_string(), least_ns: constants.least_contained * ns })
    });
    let added = mechanism.additions(row).filter_map(|(parameter, name, value, without)| {
        let own = parameter.adds_ns.zip(value.parse::<f64>().ok()).map(|(ns, value)| ns * value);
        let of_control = || {
            let with =
                |v: &Variant| Some(&v.mechanism) == parameter.control.as_ref() && v.parameters.get(name) == Some(value);
            fastest(run, with).filter(|(_, _, starts)| enough(*starts)).map(|(_, ns, _)| ns)
        };
        let adds = own.or_else(of_control)?;
        let base = fastest(run, |v| *v == without).filter(|(_, _, starts)| *starts as f64 >= constants.base_starts);
        let base = base.map(|(_, ns, _)| ns).filter(|ns| adds >= constants.least_addition * ns);
        let least_ns = base.unwrap_or(0.0) + constants.addition_seen * adds;
        Some(Content { of: format!("{name}={value}"), least_ns })
    });
    let content = contained.chain(added).max_by(|a, b| a.least_ns.total_cmp(&b.least_ns));
    Bounds { control, content }
}

/// Judges every invocation of a run again and returns what changed, one entry for each variant and
/// pair of verdicts.
///
/// A mechanism that has no page here is unobservable: nobody knows what its evidence must show.
pub fn judge_again(run: &mut Run, mechanisms: &[Mechanism]) -> Vec<Changed> {
    judge_again_by(&Constants::OURS, run, mechanisms)
}

/// The same by other constants.
pub fn judge_again_by(constants: &Constants, run: &mut Run, mechanisms: &[Mechanism]) -> Vec<Changed> {
    let mut changed: Vec<Changed> = Vec::new();
    let page = |row: &Variant| mechanisms.iter().find(|mechanism| mechanism.id == row.mechanism);
    let pages: Vec<Option<&Mechanism>> = run.variants.iter().map(page).collect();
    let adds = |(page, row): (&Option<&Mechanism>, _)| page.is_some_and(|page| page.additions(row).next().is_some());
    let adds: Vec<bool> = pages.iter().zip(&run.variants).map(adds).collect();
    // Controls first: others are held against them. A row without a parameter before those with it.
    let place = |&index: &usize| {
        let row = run.invocations[index].variant;
        if pages[row].is_some_and(|page| page.control) { (0, false) } else { (1, adds[row]) }
    };
    let mut order: Vec<usize> = (0..run.invocations.len()).collect();
    order.sort_by_key(place);
    let mut held: BTreeMap<usize, (EvidenceRule, Bounds)> = BTreeMap::new();
    for index in order {
        let variant_index = run.invocations[index].variant;
        let row = &run.variants[variant_index];
        let ruling = match pages[variant_index] {
            Some(page) => {
                let (rule, bound) =
                    held.entry(variant_index).or_insert_with(|| (page.rule(row), bounds_of(constants, run, page, row)));
                ruling(constants, rule, row, &run.invocations[index], bound)
            }
            None => Ruling::new(Verdict::Unobservable, Reason::NoRule),
        };
        let invocation = &mut run.invocations[index];
        let (from, to) = (invocation.judgement.verdict, ruling.judgement.verdict);
        if from != to && !changed.iter().any(|c| (c.variant, c.from, c.to) == (variant_index, from, to)) {
            changed.push(Changed { variant: variant_index, from, to, reason: ruling.judgement.reason.clone() });
        }
        invocation.judgement = ruling.judgement;
        invocation.disturbances.retain(|other| !matches!(other, Disturbance::ForeignSwitches { .. }));
        invocation.disturbances.extend(ruling.disturbances);
    }
    changed.sort_by_key(|changed| changed.variant);
    changed
}

/// What was asked is taken from the probe's echo of it, which was held against the plan when it was
/// measured.
fn ruling(
    constants: &Constants,
    rule: &EvidenceRule,
    variant: &Variant,
    invocation: &Invocation,
    bound: &Bounds,
) -> Ruling {
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
    judge_by(constants, rule, &plan, &answer)
}
