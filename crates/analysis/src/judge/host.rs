//! The probe's claim against what the host saw by itself. Each bound holds for every honest probe,
//! whatever the load; METHODOLOGY.md, section 3, says why.

use super::case::Case;
use super::claim::{claimed_ns, kernel_total, preemption_allowance, rulers_ns, working_sets};
use switchcost_model::{Count, Reason, Seen, Sight, TASKS_LOOKED_AT, Tree};

pub(super) fn contradiction(case: &Case<'_>) -> Option<Reason> {
    let seen = case.seen?;
    let of_all = too_long(case, seen)
        .or_else(|| too_many_kernel_switches(case, seen))
        .or_else(|| too_much_cpu_time(case, seen))
        .or_else(|| too_few_forks(case, seen))
        .or_else(|| never_blocked(case, seen))
        .or_else(|| too_many_page_faults(case, seen));
    if of_all.is_some() || case.experiment().in_one_batch() {
        return of_all;
    }
    let tree = seen.tree.as_ref()?;
    let whole = tree.tasks <= TASKS_LOOKED_AT as u64;
    let since_plan =
        whole.then(|| hidden_kernel_switches(case, seen, tree).or_else(|| time_is_missing(case, seen, tree)));
    since_plan
        .flatten()
        .or_else(|| hidden_page_faults(case, seen, tree))
        .or_else(|| wrong_sights(case, tree))
        .or_else(|| wrong_cpus(case, tree))
        .or_else(|| {
            let claimed = case.transcript.hello.as_ref()?.pid;
            (!tree.knows_pid).then_some(Reason::ForeignProcess { pid: claimed })
        })
}

/// The batches cannot have lasted longer than the probe had lived when the last samples arrived.
fn too_long(case: &Case<'_>, seen: &Seen) -> Option<Reason> {
    let (claimed, lived) = (claimed_ns(case), seen.last_samples_ns? as f64);
    let most = by_another_clock(case, lived);
    let [claimed_ms, lived_ms, most_ms] = [claimed, lived, most].map(|ns| ns / 1e6);
    (claimed > most).then_some(Reason::LongerThanLived { claimed_ms, lived_ms, most_ms: Some(most_ms) })
}

/// The most that a time, ns, can be by another clock of this machine.
fn by_another_clock(case: &Case<'_>, ns: f64) -> f64 {
    ns * (1.0 + case.constants.clock_share) + case.constants.clock_ns
}

/// What the kernel counted for the whole tree includes what the contexts did, of either kind.
fn too_many_kernel_switches(case: &Case<'_>, seen: &Seen) -> Option<Reason> {
    let claimed = case.evidence.kernel.as_ref()?;
    let all = (kernel_total(case.evidence)?, seen.voluntary as f64 + seen.involuntary as f64, "all");
    let voluntary = (claimed.voluntary as f64, seen.voluntary as f64, "voluntary");
    let involuntary = (claimed.involuntary as f64, seen.involuntary as f64, "involuntary");
    let (claimed, counted, kind) =
        [all, voluntary, involuntary].into_iter().find(|(claimed, counted, _)| claimed > counted)?;
    Some(Reason::KernelCountedFewer { kind: kind.to_owned(), claimed, counted })
}

fn too_much_cpu_time(case: &Case<'_>, seen: &Seen) -> Option<Reason> {
    let (claimed, used) = (*case.evidence.counts.get("cpu_time_ns")? as f64, seen.cpu_ns as f64);
    let most = by_another_clock(case, used);
    let [claimed_ms, counted_ms, most_ms] = [claimed, used, most].map(|ns| ns / 1e6);
    (claimed > most).then_some(Reason::LessCpuTime { claimed_ms, counted_ms, most_ms: Some(most_ms) })
}

fn too_few_forks(case: &Case<'_>, seen: &Seen) -> Option<Reason> {
    let (each, forks) = (case.rule.seen_forks?, seen.forks?);
    let needed = each * case.evidence.units as f64;
    ((forks as f64) < needed).then_some(Reason::FewerTasksCreated { created: forks, needed })
}

/// Who waits in the kernel gives the CPU away; who yields is put aside. Not every system counts
/// that (Windows); there the evidence has no count either.
fn never_blocked(case: &Case<'_>, seen: &Seen) -> Option<Reason> {
    case.evidence.kernel.as_ref()?;
    let (voluntary, units) = (seen.voluntary, case.evidence.units);
    let least = case.constants.least_blocked * units as f64;
    let too_few = (voluntary as f64) < least;
    (case.rule.blocks && too_few).then_some(Reason::NeverBlocked { voluntary, units, least: Some(least) })
}

/// Switches that happened after `plan` and are in no evidence.
fn hidden_kernel_switches(case: &Case<'_>, seen: &Seen, tree: &Tree) -> Option<Reason> {
    let ((_, high), claimed) = (case.rule.kernel_switches?, kernel_total(case.evidence)?);
    let units = case.evidence.units as f64;
    let since_plan = seen.voluntary as f64 + seen.involuntary as f64 - tree.switches as f64;
    let before = (tree.cpu_ns as f64).min(most_leaving(case)) / case.constants.quickest_switch_ns;
    let most = claimed.max(high * units)
        + case.constants.hidden_share * units
        + case.constants.hidden_switches
        + before
        + preemption_allowance(case);
    (since_plan > most).then_some(Reason::HiddenSwitches { counted: since_plan, claimed, units, most: Some(most) })
}

/// CPU time that a start may use outside its batches, whatever it used before them: what the probe
/// chooses buys nothing.
pub(super) fn most_leaving(case: &Case<'_>) -> f64 {
    (case.rule.leaving_ms as f64 * 1e6).max(case.constants.most_leaving_ns)
}

/// A CPU gives no more time than passes: if the probe used far more of it than its batches lasted,
/// beside what it takes to leave, its clock is slow or work was left out of the batches.
fn time_is_missing(case: &Case<'_>, seen: &Seen, tree: &Tree) -> Option<Reason> {
    let constants = case.constants;
    // A helper of the idle class burns what nobody else wants, until the last task has left: on a
    // busy machine that took a second.
    if case.experiment().difference {
        return None;
    }
    let burns = case.rule.seen.keys().any(|sight| *sight == Sight::Class("idle".to_owned()));
    if burns || case.plan.variant.contexts as f64 > constants.largest_judged {
        return None;
    }
    // A control may start a program for each batch, which is in no batch.
    let times = if case.rule.turns { 1.0 } else { constants.missing_time_of_controls };
    let missing = times * constants.missing_time;
    let cpus = if case.plan.cpus.is_empty() { tree.allowed_cpus.len() } else { case.plan.cpus.len() };
    let (batches, used) = (claimed_ns(case), seen.cpu_ns.saturating_sub(tree.cpu_ns) as f64);
    let pass = case
        .evidence
        .hops
        .as_ref()
        .filter(|hops| !hops.timed)
        .map_or(0.0, |hops| (hops.count as f64).min(constants.longest_pass.max(case.plan.variant.contexts as f64)));
    let with_pass = 1.0 + pass / case.evidence.units.max(1) as f64;
    let claimed = batches * with_pass;
    let removal = if !case.rule.seen.keys().any(|sight| matches!(sight, Sight::Namespaces(_))) {
        0.0
    } else {
        case.constants.removal_ns * case.plan.variant.contexts as f64
    };
    let spins = !case.rule.turns && case.plan.cpus.len() > 1;
    let spun =
        if spins { constants.pushed_aside_ns * (seen.involuntary as f64).min(constants.pushed_aside) } else { 0.0 };
    let beside = (case.constants.leaving * tree.cpu_ns as f64).min(most_leaving(case))
        + removal
        + case.constants.release_ns * working_sets(&case.plan.variant)
        + rulers_ns(case.transcript, case.constants)
        + spun
        + case.constants.missing_time_ns;
    let most = missing * cpus as f64 * claimed + beside;
    if used > most {
        let [claimed_ms, used_ms, most_ms] = [batches, used, most].map(|ns| ns / 1e6);
        return Some(Reason::TimeMissing { claimed_ms, used_ms, most_ms: Some(most_ms) });
    }
    // The evidence's own CPU time, which audit prices by, is of all contexts.
    let by_probe =
        case.evidence.counts.get("cpu_time_ns").map(|by_probe| *by_probe as f64).filter(|_| case.is_ring())?;
    let most = missing * by_probe * with_pass + beside;
    let [claimed_ms, counted_ms, most_ms] = [by_probe, used, most].map(|ns| ns / 1e6);
    (used > most).then_some(Reason::LessCpuTime { claimed_ms, counted_ms, most_ms: Some(most_ms) })
}

/// Fewer of something than the mechanism needs.
fn fewer(what: &str, seen: u64, needed: u64) -> Option<Reason> {
    (seen < needed).then(|| Reason::HostSawFewer { what: what.to_owned(), seen, needed })
}

/// What the page, or a parameter, says that the host can see.
fn wrong_sights(case: &Case<'_>, tree: &Tree) -> Option<Reason> {
    case.rule.seen.iter().find_map(|(sight, &needed)| match sight.count(tree) {
        Count::Is(seen) => fewer(&sight.what(), seen, sight.needed(needed, tree)),
        Count::NotAsked | Count::Unknown => None,
    })
}

/// Page faults that the evidence has cannot be more than those that the kernel counted for the
/// whole process.
fn too_many_page_faults(case: &Case<'_>, seen: &Seen) -> Option<Reason> {
    let (claimed, counted) = (case.evidence.page_faults.as_ref()?, seen.page_faults? as f64);
    let claimed = claimed.minor as f64 + claimed.major as f64;
    (claimed > counted).then_some(Reason::FewerPageFaults { claimed, counted })
}

/// Page faults that happened after `plan` and are in no evidence.
fn hidden_page_faults(case: &Case<'_>, seen: &Seen, tree: &Tree) -> Option<Reason> {
    let (claimed, counted) = (case.evidence.page_faults.as_ref()?, seen.page_faults? as f64);
    let claimed = claimed.minor as f64 + claimed.major as f64;
    let counted = counted - tree.facts.as_ref()?.page_faults as f64;
    let units = case.evidence.units as f64;
    let most = claimed + case.constants.hidden_faults + case.constants.hidden_faults_share * units;
    (counted > most).then_some(Reason::HiddenPageFaults { counted, claimed, most: Some(most) })
}

fn wrong_cpus(case: &Case<'_>, tree: &Tree) -> Option<Reason> {
    let planned = &case.plan.cpus;
    if let Some(&cpu) = case.evidence.cpus.iter().flatten().find(|cpu| !tree.allowed_cpus.contains(cpu)) {
        return Some(Reason::ForbiddenCpu { cpu });
    }
    let elsewhere = |cpu: &&u32| !planned.is_empty() && !planned.contains(cpu);
    if let Some(&cpu) = tree.allowed_cpus.iter().find(elsewhere) {
        return Some(Reason::MayRunElsewhere { cpu, planned: planned.clone() });
    }
    let spread = case.is_ring() && case.plan.variant.contexts >= planned.len() as u64;
    let &cpu = planned.iter().find(|cpu| spread && !tree.ran_on.contains(cpu))?;
    let reason = Reason::NoTaskOnCpu { cpu, planned: planned.clone() };
    // Where the system places the threads of a runtime, all may be on one CPU at the look.
    Some(if planned.len() > 1 { reason.other_way() } else { reason })
}
