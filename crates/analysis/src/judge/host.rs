//! The probe's claim against what the host saw by itself. Each bound holds for every honest probe, whatever the load; METHODOLOGY.md,
//! section 3, says why.

use super::Case;
use super::claim::{claimed_ns, kernel_total, preemption_allowance, rulers_ns};
use switchcost_model::{Seen, TASKS_LOOKED_AT, Tree};

/// Two clocks of one machine and the reading of a pipe may differ by so much.
const CLOCK_SHARE: f64 = 0.01;
const CLOCK_NS: f64 = 1e6;

/// Kernel switches after `plan` for each unit beyond those that the evidence has: below, they are a runtime's own (collector, compiler).
const HIDDEN_SHARE: f64 = 0.5;
const HIDDEN_SWITCHES: f64 = 10_000.0;

/// Largest ring whose CPU time is held against its batches.
const LARGEST_JUDGED: u64 = 1000;

/// CPU time that a runtime uses to verify and to leave, for each ns that it took to start: Erlang takes a tenth more, and nine tenths where a neighbour
/// comes to its core after the start.
const LEAVING: f64 = 2.0;

/// Length of the longest pass that checks hops after the batches, where a lap is not longer.
const LONGEST_PASS: u64 = 1000;

/// CPU time of the quickest kernel switch. Tasks that had ended before `plan` are counted in the end, but not at the look; so much of them there
/// may have been.
const QUICKEST_SWITCH_NS: f64 = 250.0;

/// CPU time that a start used after `plan`, for each ns claimed and CPU; above, time is missing in the claim. The constant is what lies around
/// the batches, and the tick by which the kernel's count of a running task may be behind.
const MISSING_TIME: f64 = 1.15;
const MISSING_TIME_NS: f64 = 6e6;

/// A control across CPUs spins: while one of its tasks is pushed aside between batches, the other burns time that is in none. As long as this each time,
/// where others queue for the CPU, and not more often than in a start of a few batches.
const PUSHED_ASIDE_NS: f64 = 15e6;
const PUSHED_ASIDE: u64 = 10;

/// CPU time of the runtime that takes a container away; the processes that made it had ended before the look.
const REMOVAL_NS: f64 = 30e6;

pub(super) fn contradiction(case: &Case<'_>) -> Option<String> {
    let seen = case.seen?;
    let of_all = too_long(case, seen)
        .or_else(|| too_many_kernel_switches(case, seen))
        .or_else(|| too_much_cpu_time(case, seen))
        .or_else(|| too_few_forks(case, seen));
    if of_all.is_some() || case.experiment().in_one_batch() {
        return of_all;
    }
    let tree = seen.tree.as_ref()?;
    let whole = tree.tasks <= TASKS_LOOKED_AT as u64;
    let since_plan =
        whole.then(|| hidden_kernel_switches(case, seen, tree).or_else(|| time_is_missing(case, seen, tree)));
    since_plan
        .flatten()
        .or_else(|| wrong_tasks(case, tree))
        .or_else(|| wrong_surroundings(case, tree))
        .or_else(|| wrong_cpus(case, tree))
        .or_else(|| {
            let claimed = case.transcript.hello.as_ref()?.pid;
            (!tree.knows_pid).then(|| format!("the probe gave process id {claimed}, which is none of its processes"))
        })
}

/// The batches cannot have lasted longer than the probe had lived when the last samples arrived.
fn too_long(case: &Case<'_>, seen: &Seen) -> Option<String> {
    let (claimed, lived) = (claimed_ns(case), seen.last_samples_ns? as f64);
    (claimed > lived * (1.0 + CLOCK_SHARE) + CLOCK_NS).then(|| {
        format!(
            "the batches lasted {:.1} ms by the probe's clock, but its last samples arrived {:.1} ms after its start",
            claimed / 1e6,
            lived / 1e6
        )
    })
}

/// What the kernel counted for the whole tree includes what the contexts did, of either kind.
fn too_many_kernel_switches(case: &Case<'_>, seen: &Seen) -> Option<String> {
    let claimed = case.evidence.kernel.as_ref()?;
    let all = (kernel_total(case.evidence)?, seen.voluntary as f64 + seen.involuntary as f64, "");
    let voluntary = (claimed.voluntary as f64, seen.voluntary as f64, "voluntary ");
    let involuntary = (claimed.involuntary as f64, seen.involuntary as f64, "involuntary ");
    let (claimed, counted, kind) =
        [all, voluntary, involuntary].into_iter().find(|(claimed, counted, _)| claimed > counted)?;
    Some(format!(
        "the evidence has {claimed:.0} {kind}kernel switches, but the kernel counted {counted:.0} for the probe and all its processes"
    ))
}

fn too_much_cpu_time(case: &Case<'_>, seen: &Seen) -> Option<String> {
    let (claimed, used) = (*case.evidence.counts.get("cpu_time_ns")? as f64, seen.cpu_ns as f64);
    (claimed > used * (1.0 + CLOCK_SHARE) + CLOCK_NS).then(|| {
        format!(
            "the evidence has {:.1} ms of CPU time, but the kernel counted {:.1} ms for the probe and all its processes",
            claimed / 1e6,
            used / 1e6
        )
    })
}

fn too_few_forks(case: &Case<'_>, seen: &Seen) -> Option<String> {
    let (each, forks) = (case.rule.seen_forks?, seen.forks?);
    let needed = each * case.evidence.units as f64;
    ((forks as f64) < needed)
        .then(|| format!("{forks} tasks were created on the whole machine meanwhile, but {needed:.0} are claimed"))
}

/// Switches that happened after `plan` and are in no evidence.
fn hidden_kernel_switches(case: &Case<'_>, seen: &Seen, tree: &Tree) -> Option<String> {
    let ((_, high), claimed) = (case.rule.kernel_switches?, kernel_total(case.evidence)?);
    let units = case.evidence.units as f64;
    let since_plan = seen.voluntary as f64 + seen.involuntary as f64 - tree.switches as f64;
    let before = tree.cpu_ns as f64 / QUICKEST_SWITCH_NS;
    let most = claimed.max(high * units) + HIDDEN_SHARE * units + HIDDEN_SWITCHES + before + preemption_allowance(case);
    (since_plan > most).then(|| {
        format!(
            "the kernel counted {since_plan:.0} switches of the probe's tasks after `plan` where the evidence has {claimed:.0} for {units:.0} units"
        )
    })
}

/// A CPU gives no more time than passes: if the probe used far more of it than its batches lasted, beside what it takes to leave, its clock is slow or work was left out of the batches.
fn time_is_missing(case: &Case<'_>, seen: &Seen, tree: &Tree) -> Option<String> {
    // A large ring takes longer to make, to check and to remove than to be measured.
    if case.plan.variant.contexts > LARGEST_JUDGED {
        return None;
    }
    // A control may start a program for each batch, which is in no batch.
    let missing = if case.rule.turns { MISSING_TIME } else { 3.0 * MISSING_TIME };
    let cpus = if case.plan.cpus.is_empty() { tree.allowed_cpus.len() } else { case.plan.cpus.len() };
    let (batches, used) = (claimed_ns(case), seen.cpu_ns.saturating_sub(tree.cpu_ns) as f64);
    let pass = case
        .evidence
        .hops
        .as_ref()
        .filter(|hops| !hops.timed)
        .map_or(0, |hops| hops.count.min(LONGEST_PASS.max(case.plan.variant.contexts)));
    let claimed = batches * (1.0 + pass as f64 / case.evidence.units.max(1) as f64);
    let removal =
        if case.rule.seen_namespaces.is_empty() { 0.0 } else { REMOVAL_NS * case.plan.variant.contexts as f64 };
    let spins = !case.rule.turns && case.plan.cpus.len() > 1;
    let spun = if spins { PUSHED_ASIDE_NS * seen.involuntary.min(PUSHED_ASIDE) as f64 } else { 0.0 };
    let beside = LEAVING * tree.cpu_ns as f64 + removal + rulers_ns(case) + spun + MISSING_TIME_NS;
    (used > missing * cpus as f64 * claimed + beside).then(|| {
        format!(
            "the batches lasted {:.1} ms by the probe's clock, but it used {:.1} ms of CPU time for them",
            batches / 1e6,
            used / 1e6
        )
    })
}

fn wrong_tasks(case: &Case<'_>, tree: &Tree) -> Option<String> {
    if let Some(needed) = case.rule.seen_threads.filter(|&needed| tree.most_tasks < needed) {
        return Some(format!(
            "the host saw {} threads in one process where the mechanism has {needed}",
            tree.most_tasks
        ));
    }
    if let Some(needed) = case.rule.seen_processes.filter(|&needed| tree.processes < needed) {
        return Some(format!("the host saw {} processes where the mechanism has {needed}", tree.processes));
    }
    let spaces = tree.address_spaces?;
    let needed = case.rule.seen_processes?.min(tree.looked_at);
    (spaces < needed).then(|| format!("the host saw {spaces} address spaces where the mechanism has {needed}"))
}

fn wrong_surroundings(case: &Case<'_>, tree: &Tree) -> Option<String> {
    for (kind, &needed) in &case.rule.seen_namespaces {
        let needed = needed.min(tree.looked_at);
        if let Some(seen) = tree.namespaces.get(kind).filter(|&&seen| seen < needed) {
            return Some(format!("the host saw {seen} {kind} namespaces where the mechanism has {needed}"));
        }
    }
    let seen = tree.control_groups?;
    let needed = case.rule.seen_control_groups?.min(tree.looked_at);
    (seen < needed).then(|| format!("the host saw {seen} control groups where the mechanism has {needed}"))
}

fn wrong_cpus(case: &Case<'_>, tree: &Tree) -> Option<String> {
    let planned = &case.plan.cpus;
    if let Some(cpu) = case.evidence.cpus.iter().flatten().find(|cpu| !tree.allowed_cpus.contains(cpu)) {
        return Some(format!("the evidence names CPU {cpu}, which none of the probe's tasks may use"));
    }
    if planned.is_empty() {
        return None;
    }
    if let Some(cpu) = tree.allowed_cpus.iter().find(|cpu| !planned.contains(cpu)) {
        return Some(format!("the host saw tasks that may run on CPU {cpu} where {planned:?} was planned"));
    }
    let spread = case.is_ring() && case.plan.variant.contexts >= planned.len() as u64;
    let unused = planned.iter().find(|cpu| spread && !tree.ran_on.contains(cpu))?;
    Some(format!("the host saw no task on CPU {unused} where {planned:?} were planned"))
}
