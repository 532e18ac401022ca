//! Counted experiments.

use super::*;
use switchcost_model::{Executed, Obstacle, Samples};

/// So many instructions in each unit, and what the host saw of it.
fn counted(per_unit: i64, executed: Option<Executed>) -> Ruling {
    let experiment = Experiment::all()
        .into_iter()
        .find(|experiment| experiment.host.is_some_and(|part| !part.samples.is_empty()))
        .unwrap();
    let mut plan = plan();
    plan.variant.experiment = experiment;
    let mut transcript = honest();
    transcript.plan.as_mut().unwrap().experiment = experiment;
    for samples in &mut transcript.samples {
        samples.ticks.fill(1000 * per_unit);
        samples.quantity = Some(experiment.parts[0].clone());
    }
    for part in experiment.page().sent() {
        let sent = honest().samples.into_iter();
        transcript.samples.extend(sent.map(|samples| Samples { quantity: part.map(str::to_owned), ..samples }));
    }
    let seen = Seen { part: PartSeen { executed, ..PartSeen::default() }, ..seen() };
    let answer = ProbeAnswer {
        transcript: &transcript,
        process: ProcessEnd::Exited(0),
        log: "",
        seen: Some(&seen),
        bound: &Bounds::default(),
    };
    judge(&rule(), &plan, &answer)
}

#[test]
fn a_count_is_believed_from_the_host_alone() {
    let counts = || Some(Executed { by: "valgrind".into(), ..Executed::default() });
    check(&counted(57, counts()), Verdict::Verified, "");
    check(&counted(1, counts()), Verdict::Contradicted, "no_instructions least=2.0 per_unit=1.0");
    check(&counted(-3, counts()), Verdict::Contradicted, "no_instructions least=2.0 per_unit=-3.0");
    check(&counted(57, None), Verdict::Broken, r#"not_counted why={"kind":"nobody_counted"}"#);
    let refused = Executed { refused: Some(Obstacle::PartMissing { part: 3, parts: 9 }), ..Executed::default() };
    check(
        &counted(57, Some(refused)),
        Verdict::Broken,
        r#"not_counted why={"kind":"part_missing","part":3,"parts":9}"#,
    );
}
