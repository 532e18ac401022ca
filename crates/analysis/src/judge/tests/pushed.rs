//! Who is pushed aside by others on its CPU is not refuted by that.

use super::*;

/// A runtime's own tasks are pushed aside while the counters are read: in a tiny plan that is more
/// than the contexts do.
#[test]
fn preempted_helpers_of_a_runtime_refute_nothing() {
    let silent = EvidenceRule { kernel_switches: Some((0.0, 0.0)), ..rule() };
    let with = |tasks, involuntary| {
        let mut transcript = honest();
        let source = "s".into();
        evidence(&mut transcript).kernel = Some(KernelSwitches { voluntary: 110, involuntary, tasks, source });
        judged(&silent, &plan(), &transcript, ProcessEnd::Exited(0), "")
    };
    check(&with(15, 2099), Verdict::Verified, "");
    check(&with(2, 2099), Verdict::Contradicted, "kernel_switches counted=2209.0 least=0.0 most=0.0 units=4000");
}

/// A neighbour pushes aside by the second, not by the unit: two switches with working sets of 256
/// MiB take 0.1 s, and 2,000 pushes.
#[test]
fn a_neighbour_refutes_nothing_however_few_units_there_are() {
    let with = |cpus, milliseconds: i64, involuntary| {
        let mut transcript = honest();
        transcript
            .samples
            .iter_mut()
            .flat_map(|samples| &mut samples.ticks)
            .for_each(|t| *t = milliseconds * 1_000_000);
        kernel(&mut transcript, 4000, involuntary);
        let echo = transcript.plan.as_mut().unwrap();
        echo.cpus = cpus;
        let plan = Plan { cpus: echo.cpus.clone(), ..plan() };
        evidence(&mut transcript).cpus = Some(plan.cpus.clone());
        let hops = evidence(&mut transcript).hops.as_mut().unwrap();
        hops.same_cpu = if plan.cpus.len() > 1 { 0 } else { hops.count };
        let seen = Seen { last_samples_ns: Some(10_000_000_000), voluntary: 10_000, involuntary: 21_000, ..seen() };
        let tree = Tree { allowed_cpus: plan.cpus.clone(), ran_on: plan.cpus.clone(), ..seen.tree.clone().unwrap() };
        let seen = Seen { tree: Some(tree), ..seen };
        let process = ProcessEnd::Exited(0);
        judge(
            &rule(),
            &plan,
            &ProbeAnswer { transcript: &transcript, process, log: "", seen: Some(&seen), bound: &Bounds::default() },
        )
    };
    check(&with(vec![1], 1000, 20_000), Verdict::Verified, "");
    assert_eq!(with(vec![1], 1000, 20_000).disturbances[0].kind(), "foreign_switches");
    check(&with(vec![1], 1, 20_000), Verdict::Contradicted, "kernel_switches counted=24000.0");
    check(&with(vec![0, 1], 1000, 20_000), Verdict::Verified, "");
    check(&with(vec![0, 1], 1, 20_000), Verdict::Contradicted, "");
}

/// Who had no CPU answers late, or not at all: the probe has no fault. Who used its CPUs itself, or
/// slept, has none to lay it to.
#[test]
fn a_missing_answer_is_laid_to_others_only_if_they_had_the_cpus() {
    let silent = |waited_ns, cpu_ns, process| {
        let seen = Seen { waited_ns, cpu_ns, ..Seen::default() };
        let transcript = Transcript::default();
        let answer =
            ProbeAnswer { transcript: &transcript, process, log: "", seen: Some(&seen), bound: &Bounds::default() };
        judge(&rule(), &plan(), &answer)
    };
    // Of half a second.
    let (third, deadline) = (Some(167_000_000), ProcessEnd::Deadline);
    check(&silent(third, 300_000_000, deadline), Verdict::Unsupported, "crowded limit_ms=500 waited_ms=167");
    check(&silent(third, 490_000_000, deadline), Verdict::Broken, "no_answer limit_ms=500");
    check(&silent(Some(90_000_000), 0, deadline), Verdict::Broken, "no_answer limit_ms=500");
    check(&silent(None, 0, deadline), Verdict::Broken, "no_answer limit_ms=500");
    check(&silent(third, 0, ProcessEnd::Exited(0)), Verdict::Broken, "ended_early");
}
