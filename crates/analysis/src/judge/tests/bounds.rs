//! What a unit takes at least.

use super::*;

#[test]
fn no_switch_is_as_fast_as_an_empty_loop() {
    let silent = EvidenceRule { kernel_switches: None, ..rule() };
    let by = |rule: &EvidenceRule, ticks: i64, bound: Bounds| {
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
        judge(rule, &plan(), &answer)
    };
    let within = |ticks, bound| by(&silent, ticks, bound);
    let with = |ticks, control| within(ticks, Bounds { control, ..Bounds::default() });
    let loops = |ns| Bound::Measured { mechanism: "control/empty-loop".into(), ns, starts: 3 };
    let few = Bound::Measured { mechanism: "control/empty-loop".into(), ns: 0.34, starts: 2 };
    check(&with(1_900, loops(0.34)), Verdict::Verified, "");
    check(&with(1_900, Bound::Unmeasured), Verdict::Unobservable, "unbounded");
    let near = r#"near_control control="control/empty-loop" control_ns=0.34 ns=0.32 starts=2"#;
    check(&with(320, few.clone()), Verdict::Unobservable, near);
    check(&with(1_900, few), Verdict::Verified, "");
    check(
        &with(320, loops(0.34)),
        Verdict::Contradicted,
        r#"below_control control="control/empty-loop" control_ns=0.34 ns=0.32 times=1.5"#,
    );
    // Nor is a unit done in less time than a part of it takes.
    let part = |least_ns| Some(Content { of: "a part".into(), least_ns });
    let holding = |least_ns| within(2_000, Bounds { control: loops(0.34), content: part(least_ns) });
    check(&holding(1.9), Verdict::Verified, "");
    check(&holding(2.5), Verdict::Contradicted, r#"below_content least_ns=2.5 ns=2.0 of="a part""#);
    // What was counted in the start itself is heard before other starts.
    let counted = EvidenceRule { seen: [(Sight::ResidentMib, 71)].into(), ..silent.clone() };
    let both = by(&counted, 320, Bounds { control: loops(0.34), content: part(2.5) });
    check(&both, Verdict::Contradicted, r#"host_saw_fewer needed=71 seen=70 what="MiB in memory""#);
}

/// What a batch lost may be less than its noise; a switch takes time.
#[test]
fn a_difference_of_nothing_accuses_nobody() {
    let difference = Experiment::all().into_iter().find(|experiment| experiment.difference).unwrap();
    let told = |experiment: Experiment, ticks: &[i64]| {
        let (mut plan, mut transcript) = (plan(), honest());
        plan.variant.experiment = experiment;
        transcript.plan.as_mut().unwrap().experiment = plan.variant.experiment;
        let measured = transcript.samples.iter_mut().filter(|samples| samples.phase == Phase::Measure);
        measured.for_each(|samples| samples.ticks = ticks.iter().cycle().take(samples.ticks.len()).copied().collect());
        let silent = EvidenceRule { kernel_switches: None, turns: false, ..rule() };
        judged(&silent, &plan, &transcript, ProcessEnd::Exited(0), "")
    };
    let nothing = format!("nothing_left unit=\"{}\"", difference.unit);
    check(&told(difference, &[0]), Verdict::Unobservable, &nothing);
    check(&told(difference, &[2_000_000, 2_000_000, 0]), Verdict::Verified, "");
    check(&told(Experiment::usual(), &[0]), Verdict::Contradicted, "below_one_cycle least_ns=0.1 ns=0.0");
    let stood = told(Experiment::usual(), &[2_000_000, 2_000_000, 0]);
    assert_eq!(stood.judgement.verdict, Verdict::Contradicted, "{stood:?}");
}

/// Contexts that blocked twice in three of 4,000 units: 12,000 looks, but for 1 in 50 and what the
/// edges add.
#[test]
fn who_blocks_has_looked_as_often_as_its_row_says() {
    let rule =
        EvidenceRule { kernel_switches: Some((0.0, 2.0)), per_block: [("looks".to_owned(), 5)].into(), ..rule() };
    let looked = |looks: Option<i64>| {
        let mut transcript = honest();
        kernel(&mut transcript, 2400, 0);
        evidence(&mut transcript).counts.extend(looks.map(|looks| ("looks".to_owned(), looks)));
        judged(&rule, &plan(), &transcript, ProcessEnd::Exited(0), "")
    };
    check(&looked(Some(12_000)), Verdict::Verified, "");
    check(&looked(Some(11_690)), Verdict::Verified, "");
    check(&looked(Some(11_680)), Verdict::Contradicted, r#"count_too_small name="looks" needed=11690 observed=11680"#);
    check(&looked(None), Verdict::Unobservable, r#"not_seen what="looks""#);
}

#[test]
fn memory_that_a_row_names_is_there() {
    let resident = |mebibytes| EvidenceRule { seen: [(Sight::ResidentMib, mebibytes)].into(), ..rule() };
    check(&watched(&resident(64), |_| {}), Verdict::Verified, "");
    check(&watched(&resident(71), |_| {}), Verdict::Contradicted, "");
    let unread = |seen: &mut Seen| seen.tree.as_mut().unwrap().facts.as_mut().unwrap().resident_mib = None;
    check(&watched(&resident(64), unread), Verdict::Unobservable, "");
}
