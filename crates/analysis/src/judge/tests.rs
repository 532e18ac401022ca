use super::*;
use std::collections::BTreeMap;
use switchcost_model::{
    Clock, End, Experiment, Hello, Histogram, Hops, KernelSwitches, Phase, Placement, Samples, Timing, Tree, Turns,
    Variant,
};

fn plan() -> Plan {
    Plan {
        variant: Variant {
            mechanism: "thread/pipe".parse().unwrap(),
            probe: "p".into(),
            experiment: Experiment::usual(),
            contexts: 2,
            placement: Placement::usual(),
            timing: Timing::Batch,
            parameters: [("payload".to_owned(), "8".to_owned())].into(),
            label: String::new(),
        },
        cpus: vec![1],
        batch_units: 0,
        batch_ns: 1_000_000,
        batches: 3,
        warmup_batches: 1,
        verify_units: 100,
        seed: 0,
        deadline_ms: 500,
    }
}

fn rule() -> EvidenceRule {
    EvidenceRule { turns: true, kernel_switches: Some((1.0, 1.0)), address_spaces: Some(1), ..EvidenceRule::default() }
}

/// A transcript that deserves `verified`: 4 batches of 1 000 switches at 1 300 ns.
fn honest() -> Transcript {
    let batch = |phase, count| Samples {
        phase,
        units: 1000,
        ticks: vec![1_300_000; count],
        quantity: None,
        rulers: BTreeMap::new(),
    };
    Transcript {
        hello: Some(Hello {
            protocol: 1,
            probe: "p".into(),
            version: "1".into(),
            runtime: "r".into(),
            compiler: None,
            flags: None,
            pid: 1,
            clock: Clock { name: "c".into(), ticks_per_second: 1_000_000_000, read_cost_ticks: 20 },
            counter: None,
        }),
        plan: Some(PlanEcho {
            mechanism: "thread/pipe".parse().unwrap(),
            experiment: Experiment::usual(),
            contexts: 2,
            timing: Timing::Batch,
            cpus: vec![1],
            batch_units: 1000,
            batches: 3,
            warmup_batches: 1,
            parameters: [("payload".to_owned(), "8".to_owned())].into(),
        }),
        samples: vec![batch(Phase::Warmup, 1), batch(Phase::Measure, 3)],
        histograms: vec![],
        evidence: Some(Evidence {
            units: 4000,
            turns: Some(Turns { total: 4000, min: 2000, max: 2000, contexts: 2 }),
            token: Some(4000),
            kernel: Some(KernelSwitches { voluntary: 2002, involuntary: 2000, tasks: 2, source: "s".into() }),
            address_spaces: Some(1),
            cpus: Some(vec![1]),
            migrations: Some(0),
            hops: Some(Hops { count: 100, in_order: 100, same_cpu: 100, same_thread: Some(100), timed: true }),
            ..Evidence::default()
        }),
        notes: vec![],
        end: Some(End { status: EndStatus::Ok, code: None, detail: None, errno: None, samples: 4 }),
        fault: None,
    }
}

/// What the host saw of it: one process with two threads on CPU 1.
fn seen() -> Seen {
    Seen {
        pid: 1,
        plan_ns: Some(2_000_000),
        first_samples_ns: Some(8_000_000),
        last_samples_ns: Some(8_000_000),
        voluntary: 2300,
        involuntary: 2100,
        cpu_ns: 7_000_000,
        forks: Some(3),
        strays: 0,
        tree: Some(Tree {
            tasks: 2,
            processes: 1,
            most_tasks: 2,
            looked_at: 1,
            address_spaces: Some(1),
            namespaces: [("pid".to_owned(), 1)].into(),
            control_groups: Some(1),
            allowed_cpus: vec![1],
            ran_on: vec![1],
            switches: 300,
            cpu_ns: 1_500_000,
            knows_pid: true,
        }),
    }
}

fn judged(rule: &EvidenceRule, plan: &Plan, transcript: &Transcript, process: ProcessEnd, log: &str) -> Ruling {
    // As much as any of these transcripts claims.
    let seen = Seen { last_samples_ns: Some(10_000_000_000), voluntary: 10_000, ..seen() };
    judge(rule, plan, &ProbeAnswer { transcript, process, log, seen: Some(&seen), bound: &Bound::None })
}

/// Judges the honest transcript by a rule, with a host that saw something else.
fn watched(rule: &EvidenceRule, change: impl FnOnce(&mut Seen)) -> Ruling {
    let mut seen = seen();
    change(&mut seen);
    let transcript = honest();
    let answer = ProbeAnswer {
        transcript: &transcript,
        process: ProcessEnd::Exited(0),
        log: "",
        seen: Some(&seen),
        bound: &Bound::None,
    };
    judge(rule, &plan(), &answer)
}

/// Applies a lie to the honest transcript and returns the ruling.
fn harmless(lie: impl FnOnce(&mut Transcript)) -> Ruling {
    let mut transcript = honest();
    lie(&mut transcript);
    judged(&rule(), &plan(), &transcript, ProcessEnd::Exited(0), "")
}

fn check(ruling: &Ruling, verdict: Verdict, words: &str) {
    assert_eq!(ruling.judgement.verdict, verdict, "{}", ruling.judgement.reason);
    assert!(ruling.judgement.reason.contains(words), "{:?} lacks {words:?}", ruling.judgement.reason);
}

fn evidence(transcript: &mut Transcript) -> &mut Evidence {
    transcript.evidence.as_mut().unwrap()
}

fn kernel(transcript: &mut Transcript, voluntary: u64, involuntary: u64) {
    let tasks = 2;
    evidence(transcript).kernel = Some(KernelSwitches { voluntary, involuntary, tasks, source: "s".into() });
}

#[test]
fn the_truth_is_verified() {
    check(&harmless(|_| {}), Verdict::Verified, "");
}

#[test]
fn every_lie_is_contradicted() {
    let contradicted = |lie: fn(&mut Transcript), words| check(&harmless(lie), Verdict::Contradicted, words);
    contradicted(|t| evidence(t).units = 5000, "covers 5000 units");
    contradicted(|t| evidence(t).turns.as_mut().unwrap().total = 3999, "counted 3999 turns");
    contradicted(|t| evidence(t).turns.as_mut().unwrap().min = 0, "no ring");
    contradicted(|t| evidence(t).turns.as_mut().unwrap().contexts = 1, "1 contexts took part");
    contradicted(|t| evidence(t).token = Some(1), "token advanced by 1");
    contradicted(|t| kernel(t, 1, 2), "kernel counted 3 switches");
    contradicted(|t| kernel(t, 2000, 0), "kernel counted 2000 switches");
    contradicted(|t| kernel(t, 4000, 4000), "kernel counted 8000 switches");
    contradicted(|t| evidence(t).address_spaces = Some(0), "0 address spaces");
    contradicted(|t| evidence(t).address_spaces = Some(2), "2 address spaces where the mechanism has 1");
    contradicted(
        |t| {
            evidence(t).kernel =
                Some(KernelSwitches { voluntary: 0, involuntary: 0, tasks: 1_000_000, source: "s".into() })
        },
        "kernel counted 0 switches",
    );
    contradicted(|t| evidence(t).turns = Some(Turns { total: 4000, min: 1, max: 2, contexts: 2 }), "cannot be the sum");
    contradicted(|t| evidence(t).hops.as_mut().unwrap().same_cpu = 99, "changed the CPU");
    contradicted(|t| evidence(t).counts.extend([("busy".to_owned(), -1)]), "cannot be negative");
    contradicted(|t| evidence(t).cpus = Some(vec![0, 1]), "ran on CPU 0");
    contradicted(|t| evidence(t).hops.as_mut().unwrap().in_order = 99, "99 of 100 switches");
    contradicted(|t| t.samples[1].ticks = vec![90_000, 80, 90], "less than one clock cycle");
    contradicted(|t| t.samples[1].ticks[1] = 0, "the clock stood still");
    contradicted(|t| evidence(t).migrations = Some(3), "changed the CPU 3 times");
    contradicted(
        |t| {
            *evidence(t).hops.as_mut().unwrap() =
                Hops { count: 4001, in_order: 4001, same_cpu: 4001, ..evidence(t).hops.clone().unwrap() }
        },
        "the order of 4001 switches was checked in 4000 units",
    );
}

#[test]
fn a_footprint_is_divided_by_contexts_that_ran() {
    let (mut plan, mut transcript) = (plan(), honest());
    plan.variant.experiment = "footprint".parse().unwrap();
    plan.variant.contexts = 1000;
    transcript.plan.as_mut().unwrap().experiment = "footprint".parse().unwrap();
    transcript.plan.as_mut().unwrap().contexts = 1000;
    transcript.samples.iter_mut().for_each(|samples| samples.quantity = Some("resident_bytes".into()));
    evidence(&mut transcript).turns = Some(Turns { total: 4000, min: 1, max: 1, contexts: 4000 });
    check(&judged(&rule(), &plan, &transcript, ProcessEnd::Exited(0), ""), Verdict::Verified, "");
    evidence(&mut transcript).turns = Some(Turns { total: 3999, min: 0, max: 1, contexts: 4000 });
    check(&judged(&rule(), &plan, &transcript, ProcessEnd::Exited(0), ""), Verdict::Contradicted, "counted 3999 turns");
}

#[test]
fn what_cannot_be_seen_is_unobservable() {
    let unobservable = |lie: fn(&mut Transcript), words| check(&harmless(lie), Verdict::Unobservable, words);
    unobservable(|t| evidence(t).kernel = None, "switch count");
    unobservable(|t| evidence(t).turns = None, "turns");
    unobservable(|t| evidence(t).cpus = None, "CPU of the contexts");
    unobservable(|t| evidence(t).token = None, "sequence number");
    unobservable(|t| evidence(t).hops = None, "order and CPUs");
    unobservable(
        |t| {
            *evidence(t).hops.as_mut().unwrap() =
                Hops { count: 1, in_order: 1, same_cpu: 1, same_thread: None, timed: false }
        },
        "1 switches were checked where 99",
    );
    unobservable(
        |t| {
            evidence(t).kernel = None;
            evidence(t).why.insert("kernel".into(), "counters are blind under this kernel".into());
        },
        "counters are blind",
    );
}

#[test]
fn another_plan_is_broken() {
    let broken = |lie: fn(&mut Transcript), words| check(&harmless(lie), Verdict::Broken, words);
    broken(|t| t.plan.as_mut().unwrap().contexts = 3, "contexts is 3, asked was 2");
    broken(|t| t.plan.as_mut().unwrap().cpus = vec![0], "cpus [0], asked was [1]");
    broken(|t| t.plan.as_mut().unwrap().mechanism = "thread/futex".parse().unwrap(), "thread/futex");
    broken(|t| t.plan.as_mut().unwrap().parameters.clear(), "payload is missing");
    broken(|t| t.samples[1].ticks.truncate(2), "2 measure batches arrived where 3");
    broken(|t| t.samples.truncate(0), "0 warmup batches arrived where 1");
    broken(|t| t.samples[1].units = 10, "10 units");
    broken(|t| t.end = None, "before `end`");
    broken(|t| t.fault = Some("line 2 …".into()), "broke the protocol");
}

#[test]
fn process_ends_are_told() {
    let ended = |process, log: &str| judged(&rule(), &plan(), &honest(), process, log);
    check(&ended(ProcessEnd::Deadline, ""), Verdict::Broken, "answered but did not leave within 1500 ms");
    let silent = judged(&rule(), &plan(), &Transcript::default(), ProcessEnd::Deadline, "");
    check(&silent, Verdict::Broken, "no answer within 500 ms");
    check(&ended(ProcessEnd::Signalled(11), "boom\n"), Verdict::Broken, "signal 11; its last words: boom");
    check(&ended(ProcessEnd::Exited(1), ""), Verdict::Broken, "exit status is 1");
    check(&ended(ProcessEnd::NotStarted, "no such file"), Verdict::Broken, "no such file");
}

#[test]
fn unsupported_is_an_answer() {
    let ruling = harmless(|t| {
        let (code, detail) = (Some("missing_device".into()), Some("no /dev/kvm".into()));
        t.end = Some(End { status: EndStatus::Unsupported, code, detail, errno: None, samples: 0 });
    });
    check(&ruling, Verdict::Unsupported, "no /dev/kvm");
}

#[test]
fn strangers_disturb_but_do_not_refute() {
    let silent = EvidenceRule { kernel_switches: Some((0.0, 0.0)), ..rule() };
    let with = |switches| {
        let mut transcript = honest();
        kernel(&mut transcript, 0, switches);
        judged(&silent, &plan(), &transcript, ProcessEnd::Exited(0), "")
    };
    assert_eq!(with(5).disturbances, []);
    assert_eq!(with(60).disturbances[0].kind, "foreign_switches");
    check(&with(60), Verdict::Verified, "");
    check(&with(4000), Verdict::Contradicted, "4000 switches");
}

/// A runtime's own tasks are pushed aside while the counters are read: in a tiny plan that is more than the contexts do.
#[test]
fn preempted_helpers_of_a_runtime_refute_nothing() {
    let silent = EvidenceRule { kernel_switches: Some((0.0, 0.0)), ..rule() };
    let with = |tasks, involuntary| {
        let mut transcript = honest();
        let source = "s".into();
        evidence(&mut transcript).kernel = Some(KernelSwitches { voluntary: 50, involuntary, tasks, source });
        judged(&silent, &plan(), &transcript, ProcessEnd::Exited(0), "")
    };
    check(&with(15, 2099), Verdict::Verified, "");
    check(&with(2, 2099), Verdict::Contradicted, "2149 switches");
}

#[test]
fn a_factor_of_the_mechanism_is_checked_too() {
    let condvar = EvidenceRule { kernel_switches: Some((1.0, 2.0)), ..rule() };
    let with = |switches| {
        let mut transcript = honest();
        kernel(&mut transcript, switches, 0);
        judged(&condvar, &plan(), &transcript, ProcessEnd::Exited(0), "").judgement.verdict
    };
    assert_eq!(with(4000), Verdict::Verified);
    assert_eq!(with(8000), Verdict::Verified);
    assert_eq!(with(3000), Verdict::Contradicted);
    assert_eq!(with(9000), Verdict::Contradicted);
}

#[test]
fn units_of_milliseconds_are_preempted_now_and_then() {
    let with = |ticks: i64, switches, yields| {
        let yielding = EvidenceRule { counts: [("yields".to_owned(), (1.0, 1.0))].into(), ..rule() };
        let mut transcript = honest();
        for samples in &mut transcript.samples {
            samples.ticks.fill(1000 * ticks);
        }
        kernel(&mut transcript, switches, 0);
        transcript.evidence.as_mut().unwrap().counts.insert("yields".into(), yields);
        judged(&yielding, &plan(), &transcript, ProcessEnd::Exited(0), "").judgement.verdict
    };
    // 4 000 units of 1.3 us, in which nothing can hide, and of 1 ms, which last 4 s.
    assert_eq!(with(1_300, 4500, 4000), Verdict::Contradicted);
    assert_eq!(with(1_000_000, 4500, 4000), Verdict::Verified);
    assert_eq!(with(1_000_000, 9000, 4000), Verdict::Contradicted);
    assert_eq!(with(1_300, 4000, 4500), Verdict::Contradicted);
    assert_eq!(with(1_000_000, 4000, 4500), Verdict::Verified);
    assert_eq!(with(1_000_000, 4000, 3500), Verdict::Contradicted);
}

#[test]
fn a_plan_that_is_told_with_the_samples_is_not_believed() {
    let late = |batch: i64| {
        let mut transcript = honest();
        transcript.samples.iter_mut().for_each(|samples| samples.ticks.fill(batch));
        let at = Some(100_000_000);
        let seen = Seen { plan_ns: at, first_samples_ns: at, last_samples_ns: at, tree: None, ..seen() };
        let process = ProcessEnd::Exited(0);
        judge(
            &rule(),
            &plan(),
            &ProbeAnswer { transcript: &transcript, process, log: "", seen: Some(&seen), bound: &Bound::None },
        )
    };
    check(&late(10_000_000), Verdict::Unobservable, "came only with the samples");
    // Too short for the host to be in time.
    check(&late(1_300_000), Verdict::Verified, "");
}

#[test]
fn a_state_that_did_not_come_about_is_no_lie() {
    let polled = EvidenceRule { reached: [("idle_polls".to_owned(), 1)].into(), ..rule() };
    let with = |polls: Option<i64>| {
        let mut transcript = honest();
        evidence(&mut transcript).counts.extend(polls.map(|polls| ("idle_polls".to_owned(), polls)));
        judged(&polled, &plan(), &transcript, ProcessEnd::Exited(0), "")
    };
    check(&with(Some(1)), Verdict::Verified, "");
    check(&with(Some(0)), Verdict::Unobservable, "idle_polls is 0 where 1 or more show it");
    check(&with(None), Verdict::Unobservable, "idle_polls cannot be seen here");
}

#[test]
fn spinning_contexts_are_busy() {
    let blocking = EvidenceRule { most_busy: Some(1.5), ..rule() };
    let with = |cpu_time: Option<i64>| {
        let mut transcript = honest();
        evidence(&mut transcript).counts.extend(cpu_time.map(|ns| ("cpu_time_ns".to_owned(), ns)));
        let seen = Seen { cpu_ns: 12_000_000, ..seen() };
        let answer = ProbeAnswer {
            transcript: &transcript,
            process: ProcessEnd::Exited(0),
            log: "",
            seen: Some(&seen),
            bound: &Bound::None,
        };
        judge(&blocking, &plan(), &answer)
    };
    check(&with(Some(5_000_000)), Verdict::Verified, "");
    // 5.2 ms of batches at 1.5 CPUs, and a millisecond around them.
    check(&with(Some(8_700_000)), Verdict::Verified, "");
    check(&with(Some(9_000_000)), Verdict::Contradicted, "1.73 CPUs busy");
    check(&with(None), Verdict::Unobservable, "CPU time of the contexts");
}

#[test]
fn no_switch_is_as_fast_as_an_empty_loop() {
    let silent = EvidenceRule { kernel_switches: None, ..rule() };
    let with = |ticks: i64, bound: Bound| {
        let mut transcript = honest();
        transcript.samples.iter_mut().for_each(|samples| samples.ticks.fill(ticks));
        let seen = seen();
        let answer = ProbeAnswer {
            transcript: &transcript,
            process: ProcessEnd::Exited(0),
            log: "",
            seen: Some(&Seen { cpu_ns: 2_000_000, ..seen }),
            bound: &bound,
        };
        judge(&silent, &plan(), &answer)
    };
    let loops = |ns| Bound::Measured { mechanism: "control/empty-loop".into(), ns };
    check(&with(1_900, loops(0.34)), Verdict::Verified, "");
    check(&with(1_900, Bound::Unmeasured), Verdict::Unobservable, "no control that bounds it");
    check(&with(320, loops(0.34)), Verdict::Contradicted, "less than 1.5 times control/empty-loop");
}

/// 1 000 intervals of 40 to 47 ticks beside readings of 20.
fn each() -> Transcript {
    let mut transcript = honest();
    transcript.samples.clear();
    transcript.plan.as_mut().unwrap().timing = Timing::Each;
    let part = |phase, units: u64| Histogram {
        phase,
        units,
        bits: 3,
        buckets: vec![(40, units - 10), (44, 10)],
        sum: 40 * units + 50,
        min: 40,
        max: 45,
        pair_sum: 20 * units,
        pair_count: units,
        span_counter: 100 * units,
        span_clock: 100 * units,
    };
    transcript.histograms = vec![part(Phase::Warmup, 1000), part(Phase::Measure, 3000)];
    transcript.end.as_mut().unwrap().samples = 4000;
    transcript
}

#[test]
fn histograms_are_held_against_themselves() {
    let mut plan = plan();
    plan.variant.timing = Timing::Each;
    let with = |change: fn(&mut Histogram)| {
        let mut transcript = each();
        change(&mut transcript.histograms[1]);
        judged(&rule(), &plan, &transcript, ProcessEnd::Exited(0), "")
    };
    let contradicted = |change: fn(&mut Histogram), words| check(&with(change), Verdict::Contradicted, words);
    check(&with(|_| {}), Verdict::Verified, "");
    contradicted(|h| (h.min, h.max) = (9, 8), "longer than the longest");
    contradicted(|h| h.min = 1, "outside the first bucket");
    contradicted(|h| h.max = 1_000_000, "outside the last bucket");
    contradicted(|h| h.sum = 1, "the intervals add up to 1");
    contradicted(|h| h.pair_count = 1, "read 1 times beside 3000");
    contradicted(|h| h.pair_sum = 0, "readings of the counter cost nothing");
    contradicted(|h| h.span_clock = 0, "span of 0");
    contradicted(|h| h.span_counter = 10, "of a span of 10");
    contradicted(|h| h.span_clock = 1_000_000_000_000, "by the probe's clock");
    // Readings that cost as much as what they surround.
    check(&with(|h| h.pair_sum = 120_060), Verdict::Unobservable, "below the resolution");
}

#[test]
fn footprints_need_turns_and_possible_bytes() {
    let mut plan = plan();
    plan.variant.experiment = "footprint".parse().unwrap();
    plan.variant.contexts = 1000;
    let with = |bytes: i64, quantity: &str, turns: bool| {
        let mut transcript = honest();
        let echo = transcript.plan.as_mut().unwrap();
        (echo.experiment, echo.contexts) = ("footprint".parse().unwrap(), 1000);
        transcript.samples = vec![Samples {
            phase: Phase::Measure,
            units: 1000,
            ticks: vec![bytes],
            quantity: Some(quantity.into()),
            rulers: BTreeMap::new(),
        }];
        let turns = turns.then_some(Turns { total: 4000, min: 1, max: 1, contexts: 4000 });
        evidence(&mut transcript).turns = turns;
        judged(&rule(), &plan, &transcript, ProcessEnd::Exited(0), "")
    };
    check(&with(5_000_000, "resident_bytes", true), Verdict::Verified, "");
    check(&with(5_000_000, "resident_bytes", false), Verdict::Unobservable, "turns");
    check(&with(-5_000_000, "resident_bytes", true), Verdict::Unobservable, "fell by 5000 bytes");
    check(&with(i64::MAX, "resident_bytes", true), Verdict::Contradicted, "more than an address space");
    check(&with(5_000_000, "apples", true), Verdict::Contradicted, "claimed in apples");
}

mod host;
