//! What a unit takes at least.

use super::*;

#[test]
fn no_switch_is_as_fast_as_an_empty_loop() {
    let silent = EvidenceRule { kernel_switches: None, ..rule() };
    let within = |ticks: i64, bound: Bounds| {
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
}
