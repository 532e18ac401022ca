//! What a row says of starts that differ in their verdict.

use crate::simulation::{Law, Random, noise, rows, run};
use switchcost_analysis::{Rules, within};
use switchcost_model::{Disturbance, Judgement, Placement, Reason, Run, Seen, Verdict};

#[test]
fn starts_that_went_another_way_are_left_out_while_they_are_few() {
    let busy = Reason::TooBusy { busy: 1.9, most: 1.5, limit: None };
    let other = &busy.clone().other_way();
    let row = |rounds: u64, others: usize, reason: &Reason| {
        let mut run = run(Law::Normal, &[1.0], rounds, &mut Random::new(1));
        let few = run.invocations.iter_mut().take(others);
        few.for_each(|start| start.judgement = Judgement::new(Verdict::Contradicted, reason.clone()));
        let rows = rows(&run);
        let figures = rows[0].summary.invocation_medians.len();
        (rows[0].verdict, figures, rows[0].summary.other_ways.clone())
    };
    assert_eq!(row(10, 4, other), (Verdict::Verified, 6, Some((4, busy.clone()))));
    // Half of them: that is what the mechanism does.
    assert_eq!(row(10, 5, other), (Verdict::Contradicted, 5, None));
    assert_eq!(row(1, 1, other), (Verdict::Contradicted, 0, None));
    // Any other contradiction counts, however rare.
    assert_eq!(row(10, 1, &busy).0, Verdict::Contradicted);
}

/// Who traces one start may have traced another between two looks at it.
#[test]
fn a_run_that_somebody_traced_accuses_nobody() {
    let row = |tracer: Option<&str>| {
        let mut run = run(Law::Normal, &[1.0, 1.0], 6, &mut Random::new(1));
        let reason = Reason::TooBusy { busy: 1.9, most: 1.5, limit: None };
        run.invocations[0].judgement = Judgement::new(Verdict::Contradicted, reason);
        run.invocations[7].seen = Some(Seen { tracer: tracer.map(str::to_owned), ..Seen::default() });
        let row = &rows(&run)[0];
        (row.verdict, row.reason.clone())
    };
    assert_eq!(row(Some("strace")), (Verdict::Unobservable, Some(Reason::Traced { by: "strace".to_owned() })));
    assert_eq!(row(None).0, Verdict::Contradicted);
}

/// Of CPU time that is in no batch, a watcher may have added any amount; of counts none.
#[test]
fn a_run_that_somebody_watched_accuses_nobody_for_cpu_time() {
    let missing = Reason::TimeMissing { claimed_ms: 1.0, used_ms: 9.0, most_ms: Some(7.0) };
    let order = Reason::OutOfOrder { in_order: 1, checked: 2 };
    let row = |reason: &Reason, watched: bool| {
        let mut run = run(Law::Normal, &[1.0, 1.0], 6, &mut Random::new(1));
        run.invocations[0].judgement = Judgement::new(Verdict::Contradicted, reason.clone());
        let who = if watched { "perf" } else { "none" };
        run.machine.drifting.insert("observer.perf_events".to_owned(), who.to_owned());
        rows(&run)[0].verdict
    };
    assert_eq!(row(&missing, true), Verdict::Unobservable);
    assert_eq!([row(&missing, false), row(&order, true)], [Verdict::Contradicted; 2]);
}

/// Each row leaves out its own disturbed starts; what is formed round by round then takes those in
/// again that it lacks.
#[test]
fn rounds_are_not_lost_where_each_row_was_disturbed_in_others() {
    let mut run = run(Law::Normal, &[1.0, 1.0, 2.0], 12, &mut Random::new(1));
    for start in &mut run.invocations {
        if (start.round < 6) == (start.variant == 0) {
            start.disturbances.push(Disturbance::ForeignCpu { ns: 1, of_ns: 2 });
        }
    }
    let rows = rows(&run);
    assert_eq!([&rows[0], &rows[2]].map(|row| row.summary.invocation_medians.len()), [6, 6]);
    let compared = within(&rows[0], &rows[2], &noise(&rows), &Rules { threshold: 0.03, comparisons: 1 }).unwrap();
    assert_eq!((compared.counts, compared.paired), ((12, 12), true));
}

/// The scheduler moves the second start's contexts together after its first batch. For as long as
/// the first start lasts they were apart.
#[test]
fn the_mean_of_a_free_row_is_over_time() {
    let mut run = run(Law::Normal, &[1.0], 2, &mut Random::new(1));
    run.variants[0].placement = Placement::of_cpus(0);
    for (start, ticks) in run.invocations.iter_mut().zip([[1, 1, 1, 1], [10, 1, 1, 1]]) {
        start.cpus.clear();
        start.transcript.samples[0].ticks = ticks.map(|ms| ms * 1_000_000).to_vec();
    }
    let means = |run: &Run| {
        let figures = rows(run)[0].summary.figures.clone().unwrap();
        (figures.mean.round(), figures.mean_over_time.map(f64::round))
    };
    assert_eq!(means(&run), (2125.0, Some(5500.0)));
    run.variants[0].placement = Placement::usual();
    assert_eq!(means(&run), (2125.0, None));
}
