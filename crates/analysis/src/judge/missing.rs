//! What the rule needs and nobody told: such a row is unobservable, never verified.

use super::claim::claimed_ns;
use super::each::BELOW_RESOLUTION;
use super::{Bound, Case, each};
use switchcost_model::Seen;

/// Said of a start that had answered before the host had looked, as happens with the shortest batches. Other starts of the row may have been
/// looked at.
pub(crate) const NO_LOOK: &str = "`plan` came only with the samples, or the probe had answered before the host had looked at its tasks; allow longer batches by --batch-time";

/// Said where nobody would notice a switch that a compiler removed.
const UNBOUNDED: &str = "no control that bounds it from below was measured beside it (`bound` of its page)";

/// Rings up to this size pass the token once more where hops are not those of the batches; a longer lap takes seconds across CPUs.
const LONGEST_PASS: u64 = 10_000;

/// Batches that together last longer than that are not over before the host has read `plan`, even on a busy machine.
const LONGEST_UNSEEN_NS: f64 = 20e6;

pub(super) fn reason(case: &Case<'_>) -> Option<String> {
    let (rule, evidence) = (case.rule, case.evidence);
    let why = |field: &str, what: &str| {
        let reason = evidence.why.get(field).map_or("the probe gave no reason", String::as_str);
        Some(format!("{what} cannot be seen here: {reason}"))
    };
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
        let mut asked = rule.counts.keys().chain(rule.at_least.keys()).chain(rule.reached.keys());
        let missing = asked.find(|name| !evidence.counts.contains_key(*name))?;
        why(missing, missing)
    };
    let unreached = || {
        let (name, &least) = rule.reached.iter().find(|(name, least)| evidence.counts[*name] < **least)?;
        let observed = evidence.counts[name];
        Some(format!(
            "the state that was asked for did not come about: {name} is {observed} where {least} or more show it; other work may have kept the CPUs"
        ))
    };
    if *case.bound == Bound::Unmeasured && case.experiment().bounded() {
        return Some(UNBOUNDED.into());
    }
    hops_missing(case)
        .or_else(counts)
        .or_else(unreached)
        .or_else(|| each::below_resolution(case))
        .or_else(|| host_missing(case))
}

/// Order and CPUs of hops are evidence that no ring does without.
fn hops_missing(case: &Case<'_>) -> Option<String> {
    let contexts = case.plan.variant.contexts;
    if !case.is_ring() || case.rule.hops_hidden || case.plan.verify_units == 0 || contexts < 2 {
        return None;
    }
    let Some(hops) = &case.evidence.hops else {
        if contexts > LONGEST_PASS && case.plan.cpus.len() < 2 {
            return None;
        }
        let reason = case.evidence.why.get("hops").map_or("the probe gave no reason", String::as_str);
        return Some(format!("order and CPUs of the switches cannot be seen here: {reason}"));
    };
    let least = case.plan.verify_units.min(case.evidence.units).saturating_sub(1);
    (hops.count < least).then(|| format!("{} switches were checked where {least} were asked", hops.count))
}

fn fell_below_zero(case: &Case<'_>) -> Option<String> {
    let values = crate::series::values(case.transcript);
    let fell = values.first().filter(|&&figure| figure < 0.0)?;
    let of = case.experiment().quantity;
    Some(format!(
        "{BELOW_RESOLUTION}: {} fell by {:.0} {} per context while contexts were made",
        of.name, -fell, of.base_unit
    ))
}

/// Batches that lasted, and a `plan` that the host read only with them: it was not sent before.
fn unseen(case: &Case<'_>, seen: &Seen) -> bool {
    case.experiment().timed()
        && seen.plan_ns.is_some()
        && seen.plan_ns == seen.first_samples_ns
        && claimed_ns(case) > LONGEST_UNSEEN_NS
}

/// The host's own view: absent in runs of versions that did not look, and partly where a system does not tell.
fn host_missing(case: &Case<'_>) -> Option<String> {
    let rule = case.rule;
    let Some(seen) = case.seen else {
        return Some("what the host saw by itself is not stored with this run; measure again".into());
    };
    let wants_tree = rule.seen_threads.is_some()
        || rule.seen_processes.is_some()
        || rule.seen_control_groups.is_some()
        || !rule.seen_namespaces.is_empty();
    let Some(tree) = &seen.tree else {
        let wanted = wants_tree && !case.experiment().in_one_batch();
        return (wanted || unseen(case, seen)).then(|| NO_LOOK.into());
    };
    if rule.seen_processes.is_some() && tree.address_spaces.is_none() {
        return Some("the kernel does not let the host compare address spaces".into());
    }
    if rule.seen_control_groups.is_some() && tree.control_groups.is_none() {
        return Some("the host cannot read the control groups of the probe's processes".into());
    }
    let unread = rule.seen_namespaces.keys().find(|kind| !tree.namespaces.contains_key(*kind));
    if let Some(kind) = unread {
        return Some(format!("the host cannot read the {kind} namespaces of the probe's processes"));
    }
    (rule.seen_forks.is_some() && seen.forks.is_none())
        .then(|| "this system does not count the tasks that are created".into())
}
