use super::*;
use std::collections::BTreeMap;
use switchcost_model::{
    Broken, Clock, End, Evidence, Experiment, Fault, Hello, Histogram, Hops, KernelSwitches, PageFaults, PartSeen,
    Phase, Placement, PlanEcho, ProcessEnd, Samples, Seen, Sight, TaskFacts, Timing, Transcript, Tree, Turns, Variant,
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
            chain_cycles: None,
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
        page_faults: Some(300),
        forks: Some(3),
        strays: 0,
        waited_ns: None,
        counters: None,
        tracer: None,
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
            facts: Some(TaskFacts {
                tasks: 2,
                classes: [("other".to_owned(), 2)].into(),
                guarded: Some(0),
                filtered: Some(0),
                traced: Some(0),
                resident_mib: Some(70),
                files: Some([("pipe".to_owned(), 2)].into()),
                page_faults: 250,
                tracer: None,
            }),
        }),
        part: PartSeen::default(),
    }
}

fn judged(rule: &EvidenceRule, plan: &Plan, transcript: &Transcript, process: ProcessEnd, log: &str) -> Ruling {
    // As much as any of these transcripts claims.
    let seen = Seen { last_samples_ns: Some(10_000_000_000), voluntary: 10_000, ..seen() };
    judge(rule, plan, &ProbeAnswer { transcript, process, log, seen: Some(&seen), bound: &Bounds::default() })
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
        bound: &Bounds::default(),
    };
    judge(rule, &plan(), &answer)
}

/// Applies a lie to the honest transcript and returns the ruling.
fn harmless(lie: impl FnOnce(&mut Transcript)) -> Ruling {
    let mut transcript = honest();
    lie(&mut transcript);
    judged(&rule(), &plan(), &transcript, ProcessEnd::Exited(0), "")
}

/// The reason as `code field=value …`, of which `begins` may be the first part.
/// The verdict, and the reason's code and fields as far as they are named, each by its beginning.
fn check(ruling: &Ruling, verdict: Verdict, named: &str) {
    let reason = ruling.judgement.reason.as_ref();
    assert_eq!(ruling.judgement.verdict, verdict, "{reason:?}");
    let found = reason.map(brief).unwrap_or_default();
    let has = |word: &str| found.split(' ').any(|field| field.starts_with(word));
    assert!(named.split(' ').all(has), "{found:?} does not have {named:?}");
}

fn brief(reason: &Reason) -> String {
    let data = reason.data();
    let fields = data.as_object().unwrap().iter().filter(|(name, _)| *name != "code");
    fields.fold(reason.code(), |brief, (name, value)| format!("{brief} {name}={value}"))
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
    contradicted(|t| evidence(t).units = 5000, "units_differ evidence=5000 reported=4000");
    contradicted(|t| evidence(t).turns.as_mut().unwrap().total = 3999, "turns_differ claimed=4000 turns=3999");
    contradicted(|t| evidence(t).turns.as_mut().unwrap().min = 0, "no_ring max=2000 min=0");
    contradicted(|t| evidence(t).turns.as_mut().unwrap().contexts = 1, "contexts_differ asked=2 took_part=1");
    contradicted(|t| evidence(t).token = Some(1), "token_differs claimed=4000 token=1");
    contradicted(|t| kernel(t, 1, 2), "kernel_switches counted=3.0 least=1.0 limit=3906.0 most=1.0 units=4000");
    contradicted(|t| kernel(t, 2000, 0), "kernel_switches counted=2000.0 least=1.0 most=1.0 units=4000");
    contradicted(|t| kernel(t, 4000, 4000), "kernel_switches counted=8000.0 least=1.0 most=1.0 units=4000");
    contradicted(|t| evidence(t).address_spaces = Some(0), "address_spaces claimed=0 needed=1");
    contradicted(|t| evidence(t).address_spaces = Some(2), "address_spaces claimed=2 needed=1");
    contradicted(
        |t| {
            evidence(t).kernel =
                Some(KernelSwitches { voluntary: 0, involuntary: 0, tasks: 1_000_000, source: "s".into() })
        },
        "kernel_switches counted=0.0 least=1.0 most=1.0 units=4000",
    );
    contradicted(
        |t| evidence(t).turns = Some(Turns { total: 4000, min: 1, max: 2, contexts: 2 }),
        "turns_cannot_add contexts=2 max=2 min=1 turns=4000",
    );
    contradicted(|t| evidence(t).hops.as_mut().unwrap().same_cpu = 99, "switches_changed_cpu changed=1 checked=100");
    contradicted(|t| evidence(t).counts.extend([("busy".to_owned(), -1)]), r#"negative_count count=-1 name="busy""#);
    contradicted(|t| evidence(t).cpus = Some(vec![0, 1]), "other_cpu cpu=0 planned=[1]");
    contradicted(|t| evidence(t).hops.as_mut().unwrap().in_order = 99, "out_of_order checked=100 in_order=99");
    contradicted(|t| t.samples[1].ticks = vec![90_000, 80, 90], "below_one_cycle least_ns=0.1 ns=0.09");
    contradicted(|t| t.samples[1].ticks[1] = 0, "clock_stood_still limit=98.0 ticks=0 units=1000");
    contradicted(|t| evidence(t).migrations = Some(3), "changed_cpu cpu=1 times=3");
    contradicted(
        |t| {
            *evidence(t).hops.as_mut().unwrap() =
                Hops { count: 4001, in_order: 4001, same_cpu: 4001, ..evidence(t).hops.clone().unwrap() }
        },
        "more_checked checked=4001 units=4000",
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
    check(
        &judged(&rule(), &plan, &transcript, ProcessEnd::Exited(0), ""),
        Verdict::Contradicted,
        "turns_differ claimed=4000 turns=3999",
    );
}

#[test]
fn what_cannot_be_seen_is_unobservable() {
    let unobservable = |lie: fn(&mut Transcript), words| check(&harmless(lie), Verdict::Unobservable, words);
    unobservable(|t| evidence(t).kernel = None, r#"not_seen what="the kernel's switch count" why=null"#);
    unobservable(|t| evidence(t).turns = None, r#"not_seen what="the contexts' turns" why=null"#);
    unobservable(|t| evidence(t).cpus = None, r#"not_seen what="the CPU of the contexts" why=null"#);
    unobservable(|t| evidence(t).token = None, r#"not_seen what="the token's sequence number" why=null"#);
    unobservable(|t| evidence(t).hops = None, r#"not_seen what="order and CPUs of the switches" why=null"#);
    unobservable(
        |t| {
            *evidence(t).hops.as_mut().unwrap() =
                Hops { count: 1, in_order: 1, same_cpu: 1, same_thread: None, timed: false }
        },
        "few_checked asked=99 checked=1",
    );
    unobservable(
        |t| {
            evidence(t).kernel = None;
            evidence(t).why.insert("kernel".into(), "counters are blind under this kernel".into());
        },
        r#"not_seen what="the kernel's switch count" why="counters are blind under this kernel""#,
    );
}

#[test]
fn another_plan_is_broken() {
    let broken = |lie: fn(&mut Transcript), words| check(&harmless(lie), Verdict::Broken, words);
    broken(|t| t.plan.as_mut().unwrap().contexts = 3, r#"other_plan asked="2" done="3" what="contexts""#);
    broken(|t| t.plan.as_mut().unwrap().cpus = vec![0], r#"other_plan asked="[1]" done="[0]" what="cpus""#);
    broken(
        |t| t.plan.as_mut().unwrap().mechanism = "thread/futex".parse().unwrap(),
        r#"other_plan asked="thread/pipe" done="thread/futex" what="mechanism""#,
    );
    broken(|t| t.plan.as_mut().unwrap().parameters.clear(), r#"other_plan asked="8" done="missing" what="payload""#);
    broken(|t| t.samples[1].ticks.truncate(2), r#"batches_missing arrived=2 asked=3 phase="measure""#);
    broken(|t| t.samples.truncate(0), r#"batches_missing arrived=0 asked=1 phase="warmup""#);
    broken(|t| t.samples[1].units = 10, "other_batch planned=1000 units=10");
    broken(|t| t.end = None, r#"ended_early status=0 words={"kind":"none"}"#);
    broken(
        |t| t.fault = Some(Fault { line: 2, broken: Broken::NotAscii }),
        r#"protocol_broken fault={"broken":{"kind":"not_ascii"},"line":2} words={"kind":"none"}"#,
    );
}

#[test]
fn process_ends_are_told() {
    let ended = |process, log: &str| judged(&rule(), &plan(), &honest(), process, log);
    check(&ended(ProcessEnd::Deadline, ""), Verdict::Broken, r#"did_not_leave limit_ms=5020 words={"kind":"none"}"#);
    let silent = judged(&rule(), &plan(), &Transcript::default(), ProcessEnd::Deadline, "");
    check(&silent, Verdict::Broken, "no_answer limit_ms=500");
    check(
        &ended(ProcessEnd::Signalled(11), "boom\n"),
        Verdict::Broken,
        r#"killed signal=11 words={"kind":"said","text":"boom"}"#,
    );
    check(
        &ended(ProcessEnd::Exited(1), ""),
        Verdict::Broken,
        r#"statuses_differ end="ok" status=1 words={"kind":"none"}"#,
    );
    check(&ended(ProcessEnd::Unknown, ""), Verdict::Broken, "end_unknown");
    check(&ended(ProcessEnd::NotStarted, "no such file"), Verdict::Broken, r#"not_started why="no such file""#);
}

#[test]
fn unsupported_is_an_answer() {
    let ruling = harmless(|t| {
        let (code, detail) = (Some("missing_device".into()), Some("no /dev/kvm".into()));
        t.end = Some(End { status: EndStatus::Unsupported, code, detail, errno: None, samples: 0 });
    });
    check(&ruling, Verdict::Unsupported, r#"unsupported detail="no /dev/kvm""#);
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
    assert_eq!(with(60).disturbances, [Disturbance::ForeignSwitches { more: 60, units: 4000 }]);
    check(&with(60), Verdict::Verified, "");
    check(&with(4000), Verdict::Contradicted, "kernel_switches counted=4000.0 least=0.0 most=0.0 units=4000");
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
            &ProbeAnswer { transcript: &transcript, process, log: "", seen: Some(&seen), bound: &Bounds::default() },
        )
    };
    check(&late(10_000_000), Verdict::Unobservable, "not_looked_at");
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
    check(&with(Some(0)), Verdict::Unobservable, r#"not_reached name="idle_polls" needed=1 observed=0"#);
    check(&with(None), Verdict::Unobservable, r#"not_seen what="idle_polls" why=null"#);
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
            bound: &Bounds::default(),
        };
        judge(&blocking, &plan(), &answer)
    };
    check(&with(Some(5_000_000)), Verdict::Verified, "");
    // 5.2 ms of batches at 1.5 CPUs, and a millisecond around them.
    check(&with(Some(8_700_000)), Verdict::Verified, "");
    check(
        &with(Some(9_000_000)),
        Verdict::Contradicted,
        r#"other_way instead={"busy":1.7307692307692308,"code":"too_busy","limit":1.6923"#,
    );
    check(&with(None), Verdict::Unobservable, r#"not_seen what="the CPU time of the contexts" why=null"#);
}

#[test]
fn a_quantity_may_come_in_several_messages() {
    let part = |ticks: Vec<i64>| Samples {
        phase: Phase::Measure,
        units: 10,
        ticks,
        quantity: Some("resident_bytes".into()),
        rulers: BTreeMap::new(),
    };
    let transcript = Transcript { samples: vec![part(vec![100, 200]), part(vec![600])], ..honest() };
    assert_eq!(crate::series::quantities(&transcript)["resident_bytes"], 30.0);
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
    check(
        &with(5_000_000, "resident_bytes", false),
        Verdict::Unobservable,
        r#"not_seen what="the contexts' turns" why=null"#,
    );
    check(
        &with(-5_000_000, "resident_bytes", true),
        Verdict::Unobservable,
        r#"fell_below_zero by=5000.0 quantity="memory" unit="bytes""#,
    );
    check(
        &with(i64::MAX, "resident_bytes", true),
        Verdict::Contradicted,
        r#"beyond_address_space bytes=9223372036854775807 quantity="resident_bytes""#,
    );
    check(
        &with(5_000_000, "apples", true),
        Verdict::Contradicted,
        r#"other_quantity experiment="footprint" known=["resident_bytes","kernel_bytes","virtual_bytes"] quantity="apples""#,
    );
}

mod bounds;
mod each;
mod host;
mod pushed;

macro_rules! of_parts {
    ($($name:ident: $field:ident $seen:ident,)+) => {
        $(mod $name;)+
    };
}
switchcost_model::host_parts!(of_parts);
