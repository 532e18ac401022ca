//! What the host saw against what the probe says.

use super::*;

/// Of 64 containers and their driver 64 processes are looked at, the driver among them.
#[test]
fn a_look_at_part_of_the_processes_accuses_nobody_of_the_rest() {
    let rule = EvidenceRule { seen: [(Sight::Namespaces("pid".into()), 64)].into(), ..rule() };
    let with = |processes, seen| {
        watched(&rule, |s| {
            let tree = s.tree.as_mut().unwrap();
            (tree.tasks, tree.processes, tree.looked_at) = (processes, processes, 64);
            tree.namespaces = [("pid".to_owned(), seen)].into();
        })
    };
    check(&with(65, 63), Verdict::Verified, "");
    check(&with(65, 62), Verdict::Contradicted, r#"host_saw_fewer needed=63 seen=62 what="pid namespaces""#);
    check(&with(64, 63), Verdict::Contradicted, r#"host_saw_fewer needed=64 seen=63 what="pid namespaces""#);
    // Idle processes beside two contexts hide neither of them.
    let two = EvidenceRule { seen: [(Sight::Namespaces("pid".into()), 2)].into(), ..self::rule() };
    let idle = watched(&two, |s| {
        let tree = s.tree.as_mut().unwrap();
        (tree.tasks, tree.processes, tree.looked_at) = (70, 70, 64);
        tree.namespaces = [("pid".to_owned(), 1)].into();
    });
    check(&idle, Verdict::Contradicted, r#"host_saw_fewer needed=2 seen=1 what="pid namespaces""#);
}

#[test]
fn what_the_host_saw_refutes() {
    let contradicted = |change: fn(&mut Seen), words| check(&watched(&rule(), change), Verdict::Contradicted, words);
    check(&watched(&rule(), |_| {}), Verdict::Verified, "");
    contradicted(|s| s.last_samples_ns = Some(1_000_000), "longer_than_lived claimed_ms=5.2 lived_ms=1.0");
    contradicted(
        |s| (s.voluntary, s.involuntary) = (5, 9),
        r#"kernel_counted_fewer claimed=4002.0 counted=14.0 kind="all""#,
    );
    contradicted(
        |s| (s.voluntary, s.involuntary) = (500, 9000),
        r#"kernel_counted_fewer claimed=2002.0 counted=500.0 kind="voluntary""#,
    );
    contradicted(|s| s.cpu_ns = 40_000_000, "time_missing claimed_ms=5.2 most_ms=14.98 used_ms=38.5");
    contradicted(|s| s.tree.as_mut().unwrap().knows_pid = false, "foreign_process pid=1");
    contradicted(|s| s.tree.as_mut().unwrap().allowed_cpus = vec![0], "forbidden_cpu cpu=1");
    contradicted(|s| s.tree.as_mut().unwrap().allowed_cpus = vec![0, 1], "may_run_elsewhere cpu=0 planned=[1]");
    contradicted(|s| s.tree.as_mut().unwrap().ran_on.clear(), "no_task_on_cpu cpu=1 planned=[1]");
}

#[test]
fn contexts_that_are_tasks_must_be_there() {
    let rules = |change: fn(&mut EvidenceRule)| {
        let mut rule = rule();
        change(&mut rule);
        rule
    };
    let threads = rules(|r| r.seen.extend([(Sight::Threads, 2)]));
    check(&watched(&threads, |_| {}), Verdict::Verified, "");
    check(
        &watched(&threads, |s| s.tree.as_mut().unwrap().most_tasks = 1),
        Verdict::Contradicted,
        r#"host_saw_fewer needed=2 seen=1 what="threads in one process""#,
    );
    let processes = rules(|r| r.seen.extend([(Sight::Processes, 2), (Sight::AddressSpaces, 2)]));
    check(&watched(&processes, |_| {}), Verdict::Contradicted, r#"host_saw_fewer needed=2 seen=1 what="processes""#);
    let two = |s: &mut Seen, spaces: Option<u64>| {
        let tree = s.tree.as_mut().unwrap();
        (tree.processes, tree.looked_at, tree.address_spaces) = (2, 2, spaces);
    };
    check(&watched(&processes, |s| two(s, Some(2))), Verdict::Verified, "");
    check(
        &watched(&processes, |s| two(s, Some(1))),
        Verdict::Contradicted,
        r#"host_saw_fewer needed=2 seen=1 what="address spaces""#,
    );
    check(&watched(&processes, |s| two(s, None)), Verdict::Unobservable, r#"host_cannot_read what="address spaces""#);
    let spaces = rules(|r| r.seen.extend([(Sight::Namespaces("pid".into()), 2)]));
    check(
        &watched(&spaces, |s| s.tree.as_mut().unwrap().looked_at = 2),
        Verdict::Contradicted,
        r#"host_saw_fewer needed=2 seen=1 what="pid namespaces""#,
    );
    check(
        &watched(&spaces, |s| s.tree.as_mut().unwrap().namespaces.clear()),
        Verdict::Unobservable,
        r#"host_cannot_read what="pid namespaces""#,
    );
    let forks = rules(|r| r.seen_forks = Some(1.0));
    check(&watched(&forks, |_| {}), Verdict::Contradicted, "fewer_tasks_created created=3 needed=4000.0");
    check(&watched(&forks, |s| s.forks = Some(4000)), Verdict::Verified, "");
    check(&watched(&forks, |s| s.forks = None), Verdict::Unobservable, "tasks_not_counted");
}

/// Class, guard and channel are what the host saw, and what a version before it did not ask for
/// accuses nobody.
#[test]
fn what_parameters_and_channels_claim_must_be_there() {
    let facts =
        |s: &mut Seen, change: &dyn Fn(&mut TaskFacts)| change(s.tree.as_mut().unwrap().facts.as_mut().unwrap());
    for (word, what, have) in [
        ("class.fifo", "tasks of the scheduling class fifo", 0),
        ("guarded", "tasks with guarded indirect branches", 0),
        ("filtered", "tasks whose system calls pass a filter", 0),
        ("traced", "tasks that another task of the probe traces", 0),
        ("files.tcp_socket", "open files of the kind tcp_socket", 0),
        ("files.cpu_dma_latency", "open files of the kind cpu_dma_latency", 0),
    ] {
        let sight: Sight = word.parse().unwrap();
        let rule = EvidenceRule { seen: [(sight.clone(), 2)].into(), ..rule() };
        let reason = format!("host_saw_fewer needed=2 seen={have} what=\"{what}\"");
        check(&watched(&rule, |_| {}), Verdict::Contradicted, &reason);
        let honest = |s: &mut Seen| {
            facts(s, &|facts| match &sight {
                Sight::Class(class) => facts.classes.extend([(class.clone(), 2)]),
                Sight::Guarded => facts.guarded = Some(2),
                Sight::Filtered => facts.filtered = Some(2),
                Sight::Traced => facts.traced = Some(2),
                Sight::Files(kind) => facts.files.as_mut().unwrap().extend([(kind.clone(), 2)]),
                _ => unreachable!(),
            });
        };
        check(&watched(&rule, honest), Verdict::Verified, "");
        check(&watched(&rule, |s| s.tree.as_mut().unwrap().facts = None), Verdict::Verified, "");
    }
    let pipes = EvidenceRule { seen: [(Sight::Files("pipe".into()), 1000)].into(), ..rule() };
    check(
        &watched(&pipes, |s| facts(s, &|facts| facts.files = None)),
        Verdict::Unobservable,
        "host_cannot_read what=\"open files of the kind pipe\"",
    );
    // Of a large ring only so many are read.
    check(
        &watched(&pipes, |s| facts(s, &|facts| facts.files = Some([("pipe".to_owned(), 128)].into()))),
        Verdict::Verified,
        "",
    );
    // Of 1,000 processes 64 are read, and each of the others may have its own.
    let of_near = |count: u64| {
        watched(&pipes, |s| {
            let tree = s.tree.as_mut().unwrap();
            (tree.processes, tree.looked_at) = (1000, 64);
            tree.facts.as_mut().unwrap().files = Some([("pipe".to_owned(), count)].into());
        })
    };
    check(&of_near(64), Verdict::Verified, "");
    check(&of_near(63), Verdict::Contradicted, "host_saw_fewer needed=64 seen=63 what=\"open files of the kind pipe\"");
    let guarded = EvidenceRule { seen: [(Sight::Guarded, 2)].into(), ..rule() };
    check(
        &watched(&guarded, |s| facts(s, &|facts| facts.guarded = None)),
        Verdict::Unobservable,
        "host_cannot_read what=\"tasks with guarded indirect branches\"",
    );
}

/// Each stop of a traced task is a switch of the kernel: that refutes nobody, and proves nothing.
#[test]
fn a_start_that_a_stranger_traces_accuses_nobody_and_names_him() {
    let traced = |change: fn(&mut Seen)| {
        watched(&rule(), |s| {
            change(s);
            s.tree.as_mut().unwrap().facts.as_mut().unwrap().tracer = Some("strace".to_owned());
        })
    };
    let by = Disturbance::Traced { by: "strace".to_owned() };
    let refuted = traced(|s| s.cpu_ns = 40_000_000);
    check(&refuted, Verdict::Unobservable, r#"traced by="strace""#);
    assert_eq!(refuted.disturbances, std::slice::from_ref(&by));
    let sound = traced(|_| {});
    check(&sound, Verdict::Verified, "");
    assert_eq!(sound.disturbances, [by]);
}

/// What the judge says of this transcript where the host saw this.
fn of(rule: &EvidenceRule, transcript: &Transcript, seen: &Seen) -> Ruling {
    let (process, bound) = (ProcessEnd::Exited(0), &Bounds::default());
    judge(rule, &plan(), &ProbeAnswer { transcript, process, log: "", seen: Some(seen), bound })
}

#[test]
fn who_blocks_gives_the_cpu_away() {
    let blocks = EvidenceRule { blocks: true, ..rule() };
    check(&watched(&blocks, |_| {}), Verdict::Verified, "");
    let yielding = |s: &mut Seen| (s.voluntary, s.involuntary) = (900, 3500);
    let rule = EvidenceRule { kernel_switches: None, ..blocks };
    let mut transcript = honest();
    transcript.evidence.as_mut().unwrap().kernel.as_mut().unwrap().voluntary = 0;
    let mut seen = seen();
    yielding(&mut seen);
    check(&of(&rule, &transcript, &seen), Verdict::Contradicted, "never_blocked least=1000.0 units=4000 voluntary=900");
    // A system that counts no switches accuses nobody.
    transcript.evidence.as_mut().unwrap().kernel = None;
    check(&of(&rule, &transcript, &Seen { voluntary: 0, involuntary: 0, ..seen }), Verdict::Verified, "");
}

#[test]
fn page_faults_are_those_of_the_kernel() {
    let with = |claimed: u64, counted: u64, before: u64| {
        let mut transcript = honest();
        transcript.evidence.as_mut().unwrap().page_faults = Some(PageFaults { minor: claimed, major: 0 });
        let mut seen = Seen { page_faults: Some(counted), ..seen() };
        seen.tree.as_mut().unwrap().facts.as_mut().unwrap().page_faults = before;
        of(&rule(), &transcript, &seen)
    };
    check(&with(40, 300, 250), Verdict::Verified, "");
    check(&with(400, 300, 250), Verdict::Contradicted, "fewer_page_faults claimed=400.0 counted=300.0");
    check(&with(0, 90_000, 250), Verdict::Contradicted, "hidden_page_faults claimed=0.0 counted=89750.0");
    check(&with(89_000, 90_000, 250), Verdict::Verified, "");
}

#[test]
fn a_run_that_nobody_watched_is_not_verified() {
    let transcript = honest();
    let answer = ProbeAnswer {
        transcript: &transcript,
        process: ProcessEnd::Exited(0),
        log: "",
        seen: None,
        bound: &Bounds::default(),
    };
    check(&judge(&rule(), &plan(), &answer), Verdict::Unobservable, "no_host_view");
}

#[test]
fn switches_of_the_kernel_cannot_be_hidden() {
    let silent = EvidenceRule { kernel_switches: Some((0.0, 0.0)), ..rule() };
    let with = |voluntary| {
        let mut transcript = honest();
        kernel(&mut transcript, 0, 0);
        let seen = Seen { voluntary, ..seen() };
        let answer = ProbeAnswer {
            transcript: &transcript,
            process: ProcessEnd::Exited(0),
            log: "",
            seen: Some(&seen),
            bound: &Bounds::default(),
        };
        judge(&silent, &plan(), &answer)
    };
    check(&with(9_000), Verdict::Verified, "");
    check(&with(40_000), Verdict::Contradicted, "hidden_switches claimed=0.0 counted=41800.0 units=4000.0");
}

/// A control that spins on two CPUs burns time while one of the two is pushed aside; one that was
/// never pushed aside left it out of its batches.
#[test]
fn time_that_a_spinning_partner_burns_is_not_missing() {
    let (cpus, plan) = (vec![0, 1], Plan { cpus: vec![0, 1], ..plan() });
    let spinning = EvidenceRule { turns: false, kernel_switches: None, ..rule() };
    let with = |involuntary, milliseconds: u64| {
        let mut transcript = honest();
        transcript.plan.as_mut().unwrap().cpus.clone_from(&cpus);
        kernel(&mut transcript, 0, 0);
        evidence(&mut transcript).cpus = Some(cpus.clone());
        evidence(&mut transcript).hops.as_mut().unwrap().same_cpu = 0;
        let mut seen = Seen { involuntary, cpu_ns: milliseconds * 1_000_000, ..seen() };
        let tree = seen.tree.as_mut().unwrap();
        (tree.allowed_cpus, tree.ran_on) = (cpus.clone(), cpus.clone());
        let process = ProcessEnd::Exited(0);
        let answer =
            ProbeAnswer { transcript: &transcript, process, log: "", seen: Some(&seen), bound: &Bounds::default() };
        judge(&spinning, &plan, &answer)
    };
    check(&with(0, 40), Verdict::Verified, "");
    check(&with(0, 60), Verdict::Contradicted, "time_missing");
    check(&with(2, 60), Verdict::Verified, "");
    check(&with(1_000_000, 1000), Verdict::Contradicted, "time_missing");
}

/// To release two working sets of 256 MiB takes some 40 ms, after the batches; a set of a page
/// releases nothing.
#[test]
fn time_that_working_sets_take_to_be_released_is_not_missing() {
    let with = |bytes: u64, milliseconds: u64| {
        let mut plan = plan();
        plan.variant.parameters.insert("working_set".to_owned(), bytes.to_string());
        let mut transcript = honest();
        transcript.plan.as_mut().unwrap().parameters.clone_from(&plan.variant.parameters);
        let seen = Seen { cpu_ns: milliseconds * 1_000_000, ..seen() };
        let process = ProcessEnd::Exited(0);
        let answer =
            ProbeAnswer { transcript: &transcript, process, log: "", seen: Some(&seen), bound: &Bounds::default() };
        judge(&rule(), &plan, &answer)
    };
    check(&with(256 << 20, 120), Verdict::Verified, "");
    check(&with(256 << 20, 250), Verdict::Contradicted, "time_missing");
    check(&with(4096, 60), Verdict::Contradicted, "time_missing");
}

/// A helper of the idle class burns CPU time for as long as the start lasts, whatever the batches
/// lasted.
#[test]
fn what_an_idle_helper_burns_is_missing_in_no_claim() {
    let idle = EvidenceRule { seen: [(Sight::Class("idle".into()), 1)].into(), ..rule() };
    let seen = |s: &mut Seen| {
        s.cpu_ns = 900_000_000;
        s.tree.as_mut().unwrap().facts.as_mut().unwrap().classes.extend([("idle".to_owned(), 1)]);
    };
    check(&watched(&idle, seen), Verdict::Verified, "");
    check(&watched(&rule(), seen), Verdict::Contradicted, "time_missing");
}

/// Contexts on two CPUs that are pushed aside share one, or are seen on one; sandboxes, each of
/// them many tasks of the host's kernel, may not.
#[test]
fn contexts_with_a_cpu_each_are_not_pushed_aside() {
    let (cpus, plan) = (vec![0, 1], Plan { cpus: vec![0, 1], ..plan() });
    let with = |rule: &EvidenceRule, involuntary, ran_on: &[u32]| {
        let mut transcript = honest();
        transcript.plan.as_mut().unwrap().cpus.clone_from(&cpus);
        kernel(&mut transcript, 4000, involuntary);
        evidence(&mut transcript).cpus = Some(cpus.clone());
        evidence(&mut transcript).hops.as_mut().unwrap().same_cpu = 0;
        let mut seen = Seen { last_samples_ns: Some(10_000_000_000), voluntary: 10_000, ..seen() };
        let tree = seen.tree.as_mut().unwrap();
        (tree.allowed_cpus, tree.ran_on) = (cpus.clone(), ran_on.to_vec());
        let answer = ProbeAnswer {
            transcript: &transcript,
            process: ProcessEnd::Exited(0),
            log: "",
            seen: Some(&seen),
            bound: &Bounds::default(),
        };
        judge(rule, &plan, &answer)
    };
    let several = EvidenceRule { kernel_switches: Some((1.0, 2.0)), ..rule() };
    check(&with(&several, 0, &[0, 1]), Verdict::Verified, "");
    check(
        &with(&several, 1200, &[0, 1]),
        Verdict::Contradicted,
        r#"other_way instead={"code":"shared_cpu","involuntary":1200.0"#,
    );
    let one = with(&several, 0, &[0]);
    check(&one, Verdict::Contradicted, r#"other_way instead={"code":"no_task_on_cpu","cpu":1,"planned":[0,1]}"#);
    let sandboxes = EvidenceRule { hops_hidden: true, ..several };
    check(&with(&sandboxes, 1200, &[0, 1]), Verdict::Verified, "");
}
