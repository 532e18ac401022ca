//! What the rule needs and nobody told: such a row is unobservable, never verified.

use super::case::{Bound, Case};
use super::claim::claimed_ns;
use super::each;
use switchcost_model::{Count, Reason, Seen, Sight};

pub(super) fn reason(case: &Case<'_>) -> Option<Reason> {
    let (rule, evidence) = (case.rule, case.evidence);
    let why = |field: &str, what: &str| not_seen(case, field, what);
    if rule.turns && evidence.turns.is_none() {
        return why("turns", "the contexts' turns");
    }
    if case.experiment().in_one_batch() {
        return fell_below_zero(case).or_else(|| host_missing(case));
    }
    if case.is_ring() && evidence.token.is_none() {
        return why("token", "the token's sequence number");
    }
    if rule.kernel_switches.is_some() && evidence.kernel.is_none() {
        return why("kernel", "the kernel's switch count");
    }
    if rule.address_spaces.is_some_and(|spaces| spaces > 1)
        && evidence.address_spaces.is_none()
        && case.seen.and_then(|seen| seen.tree.as_ref()?.address_spaces).is_none()
    {
        return why("address_spaces", "the number of address spaces");
    }
    if !case.plan.cpus.is_empty() && evidence.cpus.is_none() {
        return why("cpus", "the CPU of the contexts");
    }
    if rule.most_busy.is_some() && !evidence.counts.contains_key("cpu_time_ns") {
        return why("cpu_time_ns", "the CPU time of the contexts");
    }
    if rule.threads_change && evidence.hops.as_ref().is_some_and(|hops| hops.same_thread.is_none()) {
        return why("same_thread", "the OS threads of the contexts");
    }
    let counts = || {
        let mut asked =
            rule.counts.keys().chain(rule.at_least.keys()).chain(rule.reached.keys()).chain(rule.per_block.keys());
        let missing = asked.find(|name| !evidence.counts.contains_key(*name))?;
        why(missing, missing)
    };
    let unreached = || {
        let (name, &needed) = rule.reached.iter().find(|(name, needed)| evidence.counts[*name] < **needed)?;
        let observed = evidence.counts[name];
        Some(Reason::NotReached { name: name.clone(), observed, needed })
    };
    if case.bound.control == Bound::Unmeasured && case.experiment().bounded() {
        // Nobody would notice a switch that a compiler removed.
        return Some(Reason::Unbounded);
    }
    let near = || {
        let (ns, control, control_ns, starts) = super::claim::near_control(case)?;
        let times = Some(case.constants.least_bounds);
        Some(Reason::NearControl { ns, control, control_ns, starts, times })
    };
    hops_missing(case)
        .or_else(near)
        .or_else(counts)
        .or_else(unreached)
        .or_else(|| each::below_resolution(case))
        .or_else(|| host_missing(case))
}

fn not_seen(case: &Case<'_>, field: &str, what: &str) -> Option<Reason> {
    Some(Reason::NotSeen { what: what.to_owned(), why: case.evidence.why.get(field).cloned() })
}

/// Order and CPUs of hops are evidence that no ring does without.
fn hops_missing(case: &Case<'_>) -> Option<Reason> {
    let contexts = case.plan.variant.contexts;
    if !case.is_ring() || case.rule.hops_hidden || case.plan.verify_units == 0 || contexts < 2 {
        return None;
    }
    let Some(hops) = &case.evidence.hops else {
        if contexts as f64 > case.constants.largest_checked && case.plan.cpus.len() < 2 {
            return None;
        }
        return not_seen(case, "hops", "order and CPUs of the switches");
    };
    let asked = case.plan.verify_units.min(case.evidence.units).saturating_sub(1);
    (hops.count < asked).then_some(Reason::FewChecked { checked: hops.count, asked })
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

/// The host's own view: absent in runs of versions that did not look, and partly where a system does not tell.
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
