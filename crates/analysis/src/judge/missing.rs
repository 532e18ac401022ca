//! What the rule needs and nobody told: such a row is unobservable, never verified.

use super::case::{Bound, Case};
use super::claim::claimed_ns;
use super::each;
use switchcost_model::{Count, Reason, Seen, Sight};

pub(super) fn reason(case: &Case<'_>) -> Option<Reason> {
    if let Some((_, reason)) = untold(case).into_iter().next() {
        return Some(reason);
    }
    if case.experiment().in_one_batch() {
        return fell_below_zero(case).or_else(|| host_missing(case));
    }
    if case.bound.control == Bound::Unmeasured && case.experiment().bounded() {
        // Nobody would notice a switch that a compiler removed.
        return Some(Reason::Unbounded);
    }
    let near = || {
        let (ns, control, control_ns, starts) = super::claim::near_control(case)?;
        let times = Some(case.constants.least_bounds);
        Some(Reason::NearControl { ns, control, control_ns, starts, times })
    };
    let unreached = || {
        let (name, &needed) = case.rule.reached.iter().find(|(name, needed)| case.evidence.counts[*name] < **needed)?;
        let observed = case.evidence.counts[name];
        Some(Reason::NotReached { name: name.clone(), observed, needed })
    };
    let nothing = || super::claim::timed_median(case).filter(|figure| super::claim::nothing_left(case, *figure));
    let nothing_left = || nothing().map(|_| Reason::NothingLeft { unit: case.experiment().page().unit.clone() });
    near()
        .or_else(unreached)
        .or_else(nothing_left)
        .or_else(|| each::below_resolution(case))
        .or_else(|| host_missing(case))
}

/// All that the rule needs and the probe alone can know, and that it did not tell, with the field
/// of the evidence.
pub(super) fn untold<'a>(case: &Case<'a>) -> Vec<(&'a str, Reason)> {
    let (rule, evidence, mut all) = (case.rule, case.evidence, Vec::new());
    let mut need = |absent: bool, field: &'a str, what: &str| {
        if absent {
            all.push((field, Reason::NotSeen { what: what.to_owned(), why: evidence.why.get(field).cloned() }));
        }
    };
    need(rule.turns && evidence.turns.is_none(), "turns", "the contexts' turns");
    if case.experiment().in_one_batch() {
        return all;
    }
    need(case.is_ring() && evidence.token.is_none(), "token", "the token's sequence number");
    need(rule.kernel_switches.is_some() && evidence.kernel.is_none(), "kernel", "the kernel's switch count");
    let spaces = evidence.address_spaces.or_else(|| case.seen?.tree.as_ref()?.address_spaces);
    let several = rule.address_spaces.is_some_and(|spaces| spaces > 1);
    need(several && spaces.is_none(), "address_spaces", "the number of address spaces");
    need(!case.plan.cpus.is_empty() && evidence.cpus.is_none(), "cpus", "the CPU of the contexts");
    let busy = rule.most_busy.is_some() && !evidence.counts.contains_key("cpu_time_ns");
    need(busy, "cpu_time_ns", "the CPU time of the contexts");
    let threads = rule.threads_change && evidence.hops.as_ref().is_some_and(|hops| hops.same_thread.is_none());
    need(threads, "same_thread", "the OS threads of the contexts");
    let checked = hops_due(case).then_some(evidence.hops.as_ref());
    need(checked.is_some_and(|hops| hops.is_none()), "hops", "order and CPUs of the switches");
    let counts = rule.counts.keys().chain(rule.at_least.keys()).chain(rule.reached.keys()).chain(rule.per_block.keys());
    for name in counts {
        need(!evidence.counts.contains_key(name), name, name);
    }
    let asked = case.plan.verify_units.min(evidence.units).saturating_sub(1);
    let few = checked.flatten().filter(|hops| hops.count < asked);
    all.extend(few.map(|hops| ("hops", Reason::FewChecked { checked: hops.count, asked })));
    all
}

/// Order and CPUs of hops are evidence that no ring does without, but for one on one CPU that is
/// too large.
fn hops_due(case: &Case<'_>) -> bool {
    let contexts = case.plan.variant.contexts;
    let checked = case.is_ring() && !case.rule.hops_hidden && case.plan.verify_units > 0 && contexts >= 2;
    let too_large = contexts as f64 > case.constants.largest_checked && case.plan.cpus.len() < 2;
    checked && (case.evidence.hops.is_some() || !too_large)
}

fn fell_below_zero(case: &Case<'_>) -> Option<Reason> {
    let values = crate::series::values(case.transcript);
    let fell = values.first().filter(|&&figure| figure < 0.0)?;
    let of = case.experiment().quantity;
    Some(Reason::FellBelowZero { quantity: of.name.to_string(), by: -fell, unit: of.base_unit.to_string() })
}

/// Batches that lasted, and a `plan` that the host read only with them: it was not sent before.
fn unseen(case: &Case<'_>, seen: &Seen) -> bool {
    case.experiment().timed()
        && seen.plan_ns.is_some()
        && seen.plan_ns == seen.first_samples_ns
        && claimed_ns(case) > case.constants.longest_unseen_ns
}

/// The host's own view: absent in runs of versions that did not look, and partly where a system
/// does not tell.
fn host_missing(case: &Case<'_>) -> Option<Reason> {
    let rule = case.rule;
    let Some(seen) = case.seen else {
        return Some(Reason::NoHostView);
    };
    let Some(tree) = &seen.tree else {
        let wanted = !rule.seen.is_empty() && !case.experiment().in_one_batch();
        return (wanted || unseen(case, seen)).then_some(Reason::NotLookedAt);
    };
    let unread = rule.seen.keys().find(|sight| sight.count(tree) == Count::Unknown);
    let what = unread.map(Sight::what);
    let uncounted = rule.seen_forks.is_some() && seen.forks.is_none();
    what.map(|what| Reason::HostCannotRead { what }).or(uncounted.then_some(Reason::TasksNotCounted))
}
