use super::*;
use switchcost_model::{Clock, End, Hello, KernelSwitches, Placement, Samples, Variant};

fn plan() -> Plan {
    Plan {
        variant: Variant {
            mechanism: "thread/pipe".parse().unwrap(),
            probe: "p".into(),
            experiment: Experiment::Switch,
            contexts: 2,
            placement: Placement::OneCpu,
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
    EvidenceRule { turns: true, kernel_switches: Some((1.0, 1.0)), address_spaces: 1, ..EvidenceRule::default() }
}

/// A transcript that deserves `verified`: 4 batches of 1 000 hand-offs at 1 300 ns.
fn honest() -> Transcript {
    let batch = |phase, count| Samples { phase, units: 1000, ticks: vec![1_300_000; count], quantity: None };
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
            experiment: Experiment::Switch,
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
            hops: Some(Hops { count: 100, in_order: 100, same_cpu: 100 }),
            ..Evidence::default()
        }),
        notes: vec![],
        end: Some(End { status: EndStatus::Ok, code: None, detail: None, errno: None, samples: 4 }),
        fault: None,
    }
}

/// Applies a lie to the honest transcript and returns the ruling.
fn told(lie: impl FnOnce(&mut Transcript)) -> Ruling {
    let mut transcript = honest();
    lie(&mut transcript);
    judge(&rule(), &plan(), &transcript, ProcessEnd::Exited(0), "")
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
    check(&told(|_| {}), Verdict::Verified, "");
}

#[test]
fn every_lie_is_contradicted() {
    let contradicted = |lie: fn(&mut Transcript), words| check(&told(lie), Verdict::Contradicted, words);
    contradicted(|t| evidence(t).units = 5000, "covers 5000 units");
    contradicted(|t| evidence(t).turns.as_mut().unwrap().total = 3999, "counted 3999 turns");
    contradicted(|t| evidence(t).turns.as_mut().unwrap().min = 0, "no ring");
    contradicted(|t| evidence(t).turns.as_mut().unwrap().contexts = 1, "1 contexts took part");
    contradicted(|t| evidence(t).token = Some(1), "token advanced by 1");
    contradicted(|t| kernel(t, 1, 2), "kernel counted 3 switches");
    contradicted(|t| kernel(t, 2000, 0), "kernel counted 2000 switches");
    contradicted(|t| kernel(t, 4000, 4000), "kernel counted 8000 switches");
    contradicted(|t| evidence(t).address_spaces = Some(0), "0 address spaces");
    contradicted(|t| evidence(t).cpus = Some(vec![0, 1]), "ran on CPU 0");
    contradicted(|t| evidence(t).hops.as_mut().unwrap().in_order = 99, "99 of 100 hops");
    contradicted(|t| t.samples[1].ticks = vec![90_000, 80, 90], "less than one clock cycle");
}

#[test]
fn a_footprint_is_divided_by_contexts_that_ran() {
    let (mut plan, mut transcript) = (plan(), honest());
    plan.variant.experiment = Experiment::Footprint;
    plan.variant.contexts = 1000;
    transcript.plan.as_mut().unwrap().experiment = Experiment::Footprint;
    transcript.plan.as_mut().unwrap().contexts = 1000;
    evidence(&mut transcript).turns = Some(Turns { total: 4000, min: 1, max: 1, contexts: 4000 });
    check(&judge(&rule(), &plan, &transcript, ProcessEnd::Exited(0), ""), Verdict::Verified, "");
    evidence(&mut transcript).turns = Some(Turns { total: 3999, min: 0, max: 1, contexts: 4000 });
    check(&judge(&rule(), &plan, &transcript, ProcessEnd::Exited(0), ""), Verdict::Contradicted, "counted 3999 turns");
}

#[test]
fn what_cannot_be_seen_is_unobservable() {
    let unobservable = |lie: fn(&mut Transcript), words| check(&told(lie), Verdict::Unobservable, words);
    unobservable(|t| evidence(t).kernel = None, "switch count");
    unobservable(|t| evidence(t).turns = None, "turns");
    unobservable(|t| evidence(t).cpus = None, "CPU of the contexts");
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
    let broken = |lie: fn(&mut Transcript), words| check(&told(lie), Verdict::Broken, words);
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
    let judged = |process, log: &str| judge(&rule(), &plan(), &honest(), process, log);
    check(&judged(ProcessEnd::Deadline, ""), Verdict::Broken, "answered but did not leave within 1500 ms");
    let silent = judge(&rule(), &plan(), &Transcript::default(), ProcessEnd::Deadline, "");
    check(&silent, Verdict::Broken, "no answer within 500 ms");
    check(&judged(ProcessEnd::Signalled(11), "boom\n"), Verdict::Broken, "signal 11; its last words: boom");
    check(&judged(ProcessEnd::Exited(1), ""), Verdict::Broken, "exit status is 1");
    check(&judged(ProcessEnd::NotStarted, "no such file"), Verdict::Broken, "no such file");
}

#[test]
fn unsupported_is_an_answer() {
    let ruling = told(|t| {
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
        judge(&silent, &plan(), &transcript, ProcessEnd::Exited(0), "")
    };
    assert_eq!(with(5).disturbances, []);
    assert_eq!(with(60).disturbances[0].kind, "foreign_switches");
    check(&with(60), Verdict::Verified, "");
    check(&with(4000), Verdict::Contradicted, "4000 switches");
}

#[test]
fn a_factor_of_the_mechanism_is_checked_too() {
    let condvar = EvidenceRule { kernel_switches: Some((1.0, 2.0)), ..rule() };
    let with = |switches| {
        let mut transcript = honest();
        kernel(&mut transcript, switches, 0);
        judge(&condvar, &plan(), &transcript, ProcessEnd::Exited(0), "").judgement.verdict
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
        judge(&yielding, &plan(), &transcript, ProcessEnd::Exited(0), "").judgement.verdict
    };
    // 4 000 units of 1.3 us, in which nothing can hide, and of 1 ms, which last 4 s.
    assert_eq!(with(1_300, 4500, 4000), Verdict::Contradicted);
    assert_eq!(with(1_000_000, 4500, 4000), Verdict::Verified);
    assert_eq!(with(1_000_000, 9000, 4000), Verdict::Contradicted);
    assert_eq!(with(1_300, 4000, 4500), Verdict::Contradicted);
    assert_eq!(with(1_000_000, 4000, 4500), Verdict::Verified);
    assert_eq!(with(1_000_000, 4000, 3500), Verdict::Contradicted);
}
