//! A CPU that idles between wake-ups, and probes that only say so.

use super::*;
use switchcost_model::{Histogram, IdleState, Idled};

/// 1,040 gaps of 1 ms after 160 of the warm-up.
fn asked() -> Plan {
    let mut plan = plan();
    plan.variant.experiment = "gap".parse().unwrap();
    plan.variant.contexts = 1;
    plan.variant.placement = Placement::of_cpus(2);
    plan.variant.parameters = [("gap".to_owned(), "1000".to_owned())].into();
    (plan.batches, plan.warmup_batches, plan.cpus) = (26, 4, vec![1, 0]);
    plan
}

/// Wake-ups of 8 µs, and 4 µs until the sleeper sleeps again.
fn recorded(phase: Phase, units: u64) -> Histogram {
    Histogram {
        phase,
        units,
        bits: 7,
        buckets: vec![(8000, units)],
        sum: units * 8000,
        min: 8000,
        max: 8000,
        pair_sum: 0,
        pair_count: units,
        span_counter: units * 1_012_000,
        span_clock: units * 1_012_000,
    }
}

fn told() -> Transcript {
    let mut transcript = honest();
    let echo = transcript.plan.as_mut().unwrap();
    (echo.experiment, echo.contexts, echo.cpus) = ("gap".parse().unwrap(), 1, vec![1, 0]);
    (echo.batch_units, echo.batches, echo.warmup_batches) = (40, 26, 4);
    echo.parameters = [("gap".to_owned(), "1000".to_owned())].into();
    transcript.samples.clear();
    transcript.histograms = vec![recorded(Phase::Warmup, 160), recorded(Phase::Measure, 1040)];
    transcript.evidence = Some(Evidence {
        units: 1200,
        turns: Some(Turns { total: 1200, min: 1200, max: 1200, contexts: 1 }),
        token: Some(1200),
        kernel: Some(KernelSwitches { voluntary: 1200, involuntary: 3, tasks: 1, source: "s".into() }),
        cpus: Some(vec![1]),
        ..Evidence::default()
    });
    transcript.end.as_mut().unwrap().samples = 1200;
    transcript
}

/// The partner read the clock all the time.
fn looked_at() -> Seen {
    let state = |entered, ns| IdleState { entered, ns };
    let states = [("POLL".to_owned(), state(1190, 30_000_000)), ("C1".to_owned(), state(1200, 1_160_000_000))];
    let idled = Idled { cpu: 1, between_ns: 1_216_000_000, states: Some(states.into()) };
    let mut seen = Seen {
        first_samples_ns: Some(1_218_000_000),
        last_samples_ns: Some(1_218_000_000),
        voluntary: 1500,
        cpu_ns: 1_222_000_000,
        part: PartSeen { idled: Some(idled), ..PartSeen::default() },
        ..seen()
    };
    let tree = seen.tree.as_mut().unwrap();
    (tree.allowed_cpus, tree.ran_on) = (vec![0, 1], vec![0, 1]);
    seen
}

fn ruling(lie: impl FnOnce(&mut Transcript, &mut Idled, &mut Seen)) -> Ruling {
    let (mut transcript, mut seen) = (told(), looked_at());
    let mut idled = seen.part.idled.take().unwrap();
    lie(&mut transcript, &mut idled, &mut seen);
    seen.part.idled = Some(idled);
    let rule = EvidenceRule { turns: true, kernel_switches: Some((1.0, 1.0)), blocks: true, ..EvidenceRule::default() };
    let process = ProcessEnd::Exited(0);
    let bound = &Bounds::default();
    judge(&rule, &asked(), &ProbeAnswer { transcript: &transcript, process, log: "", seen: Some(&seen), bound })
}

#[test]
fn an_honest_sleeper_is_believed_whatever_counts_idle_states() {
    check(&ruling(|_, _, _| {}), Verdict::Verified, "");
    check(&ruling(|_, idled, _| idled.states = None), Verdict::Verified, "");
    // The host read the plan when a third was over.
    let late = |_: &mut Transcript, idled: &mut Idled, _: &mut Seen| {
        idled.between_ns = 1_150_000_000;
        idled.states = Some([("C1".to_owned(), IdleState { entered: 700, ns: 700_000_000 })].into());
    };
    check(&ruling(late), Verdict::Verified, "");
}

#[test]
fn gaps_that_did_not_pass_are_found() {
    let found = |lie: fn(&mut Transcript, &mut Idled, &mut Seen), reason| {
        check(&ruling(lie), Verdict::Contradicted, reason);
    };
    // Gaps of half the time, told as whole ones; by a clock that says so, and by one that does not.
    found(
        |t, _, _| t.histograms.iter_mut().for_each(|histogram| histogram.span_clock /= 2),
        "gaps_do_not_fit due_ms=1209.6 least_ms=1196.5 took_ms=607.2 units=1200",
    );
    found(|_, _, seen| seen.last_samples_ns = Some(620_000_000), "longer_than_lived claimed_ms=1214.4 lived_ms=620.0");
    // Wake-ups that took longer than there is time for.
    let long = |t: &mut Transcript, _: &mut Idled, _: &mut Seen| {
        let measured = &mut t.histograms[1];
        (measured.buckets, measured.min) = (vec![(1_998_848, 1040)], 2_000_000);
        (measured.max, measured.sum) = (2_000_000, 1040 * 2_000_000);
    };
    found(long, "gaps_do_not_fit due_ms=3281.28 least_ms=3247.4 took_ms=1214.4 units=1200");
    // The sleeper spins: both CPUs are busy.
    found(|_, _, seen| seen.cpu_ns = 2_300_000_000, "not_idle cpu=1 gaps_ms=1200.0 idle_ms=142.5");
    found(|_, _, seen| seen.voluntary = 200, r#"kernel_counted_fewer claimed=1200.0 counted=200.0 kind="voluntary""#);
}

#[test]
fn a_cpu_that_was_busy_and_a_host_that_could_not_look_accuse_nobody() {
    let unobservable = |lie: fn(&mut Transcript, &mut Idled, &mut Seen), reason| {
        check(&ruling(lie), Verdict::Unobservable, reason);
    };
    let busy = |_: &mut Transcript, idled: &mut Idled, _: &mut Seen| {
        idled.states = Some([("C1".to_owned(), IdleState { entered: 1200, ns: 400_000_000 })].into());
    };
    unobservable(busy, "not_idle cpu=1 gaps_ms=1200.0 idle_ms=400.0");
    unobservable(|_, idled, _| idled.between_ns = 0, "not_looked_at");
    unobservable(
        |t, _, _| t.evidence.as_mut().unwrap().kernel = None,
        r#"not_seen what="the kernel's switch count" why=null"#,
    );
}
