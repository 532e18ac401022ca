//! What refutes a row though each of its starts is sound by itself.

use crate::simulation::{Law, Random, draws, rows, run, slack};
use std::path::Path;
use switchcost_analysis::{Constants, Noise, Outcome, Row, Rules, between, bounds_of, claimed_ns};
use switchcost_catalogue::{Catalogue, load};
use switchcost_model::{Disturbance, Histogram, Judgement, Phase, Reason, Run, Seen, Timing, Turns, Verdict};

fn measured() -> Run {
    let mut run = run(Law::Normal, &[1.0], 10, &mut Random::new(1));
    for start in &mut run.invocations {
        start.transcript.hello.as_mut().unwrap().clock.name = "CLOCK_MONOTONIC".to_owned();
    }
    run
}

#[test]
fn a_start_that_was_told_twice_refutes_its_row() {
    let mut run = measured();
    assert_eq!(rows(&run)[0].verdict, Verdict::Verified);
    run.invocations[7].transcript.samples = run.invocations[2].transcript.samples.clone();
    let judged = &rows(&run)[0];
    assert!(matches!(judged.reason, Some(Reason::Replayed { .. })), "{:?}", judged.reason);
    assert_eq!(judged.verdict, Verdict::Contradicted);
    // What a model computes may well be the same twice.
    for start in &mut run.invocations {
        start.transcript.hello.as_mut().unwrap().clock.name = "simulated".to_owned();
    }
    assert_eq!(rows(&run)[0].verdict, Verdict::Verified);
}

/// One start that was looked at does not verify the figure of many that were not.
#[test]
fn a_row_of_starts_that_nobody_looked_at_is_unobservable() {
    let mut run = measured();
    let starts = run.invocations.len();
    let mut judged = |unseen: usize| {
        for (index, start) in run.invocations.iter_mut().enumerate() {
            let late = index < unseen;
            let verdict = if late { Verdict::Unobservable } else { Verdict::Verified };
            start.judgement = Judgement { verdict, reason: late.then_some(Reason::NotLookedAt) };
        }
        let row = &rows(&run)[0];
        (row.verdict, row.reason.clone(), row.median().is_some())
    };
    assert_eq!(judged(starts / 2 - 1), (Verdict::Verified, None, true));
    let reason = Box::new(Reason::NotLookedAt);
    for unseen in [starts / 2, starts - 1] {
        let in_some = Reason::InSomeStarts { reason: reason.clone(), starts: unseen, of: starts };
        assert_eq!(judged(unseen), (Verdict::Unobservable, Some(in_some), true));
    }
}

#[test]
fn contexts_on_one_cpu_use_it_while_their_batches_last() {
    let run = measured();
    // `lasting`: of its batches, ns.
    let told = |share: f64, disturbed: usize, turns: bool, lasting: f64, lived: f64| {
        let mut run = run.clone();
        for (index, start) in run.invocations.iter_mut().enumerate() {
            let times = (lasting / claimed_ns(&start.transcript).unwrap()).ceil() as i64;
            start.transcript.samples.iter_mut().flat_map(|block| &mut block.ticks).for_each(|ticks| *ticks *= times);
            let claimed = claimed_ns(&start.transcript).unwrap();
            let evidence = start.transcript.evidence.get_or_insert_default();
            evidence.counts.insert("cpu_time_ns".to_owned(), (share * claimed) as i64);
            evidence.turns = turns.then_some(Turns { total: 2, min: 1, max: 1, contexts: 2 });
            let seen =
                Seen { last_samples_ns: Some((lived * claimed) as u64), ..start.seen.clone().unwrap_or_default() };
            start.seen = Some(seen);
            start.cpus = vec![1];
            start.disturbances.clear();
            if index < disturbed {
                start.disturbances.push(Disturbance::ForeignCpu { ns: 1, of_ns: 2 });
            }
        }
        rows(&run)[0].reason.clone()
    };
    assert_eq!(told(1.0, 0, true, 45e6, 2.0), None);
    let reason = told(0.4, 0, true, 45e6, 2.0);
    assert!(matches!(reason, Some(Reason::IdleContexts { .. })), "{reason:?}");
    // Others had the CPU, in all but two starts.
    assert_eq!(told(0.4, 8, true, 45e6, 2.0), None);
    // Others who had it for half of so short a time are not told as a disturbance, nor are those
    // who had it in a part of a long life.
    assert_eq!(told(0.4, 0, true, 9e6, 2.0), None);
    assert_eq!(told(0.4, 0, true, 45e6, 20.0), None);
    // A control that sleeps.
    assert_eq!(told(0.4, 0, false, 45e6, 2.0), None);
    // A clock at 0.7 of its rate. A CPU gives no more time than passes: not where others have it
    // too, and not to a control.
    for (disturbed, turns) in [(0, true), (10, true), (0, false)] {
        let reason = told(1.0 / 0.7, disturbed, turns, 45e6, 2.0);
        assert!(matches!(reason, Some(Reason::TimeMissing { .. })), "{reason:?}");
    }
    // The edges of short batches.
    assert_eq!(told(1.1, 0, true, 45e6, 2.0), None);
}

#[test]
fn the_host_knows_the_rate_of_the_counter() {
    let mut run = measured();
    run.machine.drifting.insert("clock.tsc_mhz_measured".to_owned(), "2600.0".to_owned());
    let told_by = |mut run: Run, starts: usize, per_us: u64, counter: &str| {
        for (index, start) in run.invocations.iter_mut().enumerate() {
            let per_us = if index < starts { per_us } else { 2600 };
            start.transcript.hello.as_mut().unwrap().counter = Some(counter.to_owned());
            start.transcript.histograms = vec![Histogram {
                phase: Phase::Measure,
                units: 1,
                bits: 7,
                buckets: vec![(10, 1)],
                sum: 10,
                min: 10,
                max: 10,
                pair_sum: 1,
                pair_count: 1,
                span_counter: per_us * 1000,
                span_clock: 1_000_000,
            }];
        }
        rows(&run)[0].verdict
    };
    let told = |run: Run, per_us, counter: &str| told_by(run, usize::MAX, per_us, counter);
    assert_eq!(told(run.clone(), 2600, "tsc"), Verdict::Verified);
    // Pushed aside between two readings, as `classic testFiber` of one start was beside other
    // tests.
    assert_eq!(told_by(run.clone(), 1, 2700, "tsc"), Verdict::Verified);
    assert_eq!(told(run.clone(), 2340, "tsc"), Verdict::Contradicted);
    assert_eq!(told(run.clone(), 1000, "System.nanoTime"), Verdict::Verified);
}

/// One start's readings of the counter hold a preemption: their mean rises eightfold, the median
/// interval does not.
#[test]
fn a_preempted_reading_takes_nothing_off() {
    let mut run = measured();
    run.variants[0].timing = Timing::Each;
    let told = |run: &mut Run, reading: &dyn Fn(usize) -> u64| {
        for (index, start) in run.invocations.iter_mut().enumerate() {
            start.transcript.samples.clear();
            start.transcript.histograms = vec![Histogram {
                phase: Phase::Measure,
                units: 1000,
                bits: 7,
                buckets: vec![(100, 1000)],
                sum: 100_000,
                min: 100,
                max: 100,
                pair_sum: 1000 * reading(index),
                pair_count: 1000,
                span_counter: 1_000_000 + index as u64,
                span_clock: 1_000_000 + index as u64,
            }];
        }
        let row = &rows(run)[0];
        (row.verdict, row.reason.clone(), row.median())
    };
    assert_eq!(told(&mut run, &|_| 40), (Verdict::Verified, None, Some(60.0)));
    assert_eq!(told(&mut run, &|index| if index == 3 { 320 } else { 40 }), (Verdict::Verified, None, Some(60.0)));
    // Of a start's mean nothing is left: it says nothing against the others, unless half of them
    // are so.
    let below =
        Judgement::new(Verdict::Unobservable, Reason::BelowReading { left: -220.0, reading: 320.0, least: None });
    let mut lost = run.clone();
    for (preempted, verdict) in [(4, Verdict::Verified), (5, Verdict::Unobservable)] {
        lost.invocations.iter_mut().take(preempted).for_each(|start| start.judgement = below.clone());
        assert_eq!(told(&mut lost, &|_| 40).0, verdict, "{preempted} of 10");
    }
    let (verdict, reason, _) = told(&mut run, &|_| 99);
    assert_eq!(
        (verdict, reason),
        (Verdict::Unobservable, Some(Reason::BelowReading { left: 1.0, reading: 99.0, least: Some(4.95) }))
    );
    let row = &rows(&run)[0];
    assert!(row.summary.figures.is_none() && row.summary.percentiles.is_empty(), "nothing is left of any");
    // Of the shortest nothing is left, which is unknown and not less than nothing.
    for start in &mut run.invocations {
        let one = &mut start.transcript.histograms[0];
        (one.buckets, one.min, one.sum, one.pair_sum) = (vec![(30, 1), (100, 999)], 30, 99_930, 40_000);
    }
    let figures = rows(&run)[0].summary.figures.clone().unwrap();
    assert_eq!((figures.median, figures.min), (60.0, None));
}

/// Of two runs whose starts fall into the same two modes, 60 % apart, in shares that chance draws.
#[test]
fn what_moves_both_modes_alike_is_found() {
    let (mut found, mut alarms, runs) = (0, 0, draws(200));
    let (none, rules) = (Noise::default(), Rules { threshold: 0.03, comparisons: 1 });
    for number in 0..runs {
        let random = &mut Random::new(number);
        let [a, same, slower] = [1.0, 1.0, 1.25].map(|factor| run(Law::Mixed(0.5, 0.6), &[factor], 20, random));
        let [a, same, slower] = [&a, &same, &slower].map(rows);
        let told = |b: &[Row<'_>]| between(&a[0], &b[0], (&none, &none), None, &rules).unwrap().outcome;
        found += u64::from(told(&slower) == Outcome::Slower);
        alarms += u64::from(matches!(told(&same), Outcome::Slower | Outcome::Faster));
    }
    let share = |count: u64| count as f64 * 100.0 / runs as f64;
    assert!(share(found) >= 95.0 - slack(95.0, runs), "{found} of {runs} are found");
    assert!(share(alarms) <= 5.0 + slack(5.0, runs), "{alarms} of {runs} are false alarms");
}

fn catalogue() -> Catalogue {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mechanisms"), &[], &|_| Ok(())).unwrap()
}

/// A payload that was not sent, a working set that was not touched and a system call that was not
/// made cost less than rows of the same run say.
#[test]
fn what_a_unit_contains_bounds_it() {
    let catalogue = catalogue();
    let row = |run: &mut Run, index: usize, mechanism: &str, experiment: &str, parameters: &[(&str, &str)]| {
        let page = catalogue.find(&mechanism.parse().unwrap()).unwrap();
        let variant = &mut run.variants[index];
        variant.mechanism = page.id.clone();
        variant.experiment = experiment.parse().unwrap();
        variant.label = String::new();
        let given = |name: &String| parameters.iter().find(|(given, _)| name == given).map(|(_, value)| *value);
        let defaults = page.parameters.iter();
        variant.parameters =
            defaults.map(|(name, known)| (name.clone(), given(name).unwrap_or(&known.default).to_owned())).collect();
        page
    };
    let fastest = |run: &Run, index: usize| {
        let starts = run.invocations.iter().filter(|start| start.variant == index);
        let batches = starts.flat_map(|start| {
            start
                .transcript
                .samples
                .iter()
                .flat_map(|samples| samples.ticks.iter().map(|ticks| *ticks as f64 / samples.units as f64))
        });
        batches.min_by(f64::total_cmp).unwrap()
    };
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    // The row, the same without its parameter, and the control.
    let mut run = run(Law::Normal, &[1.0, 1.0, 1.0], 6, &mut Random::new(7));
    let page = row(&mut run, 0, "thread/pipe", "switch", &[("working_set", "65536")]);
    row(&mut run, 1, "thread/pipe", "switch", &[]);
    row(&mut run, 2, "control/touch", "switch", &[("working_set", "65536")]);
    let content = bounds_of(&Constants::OURS, &run, page, &run.variants[0]).content.unwrap();
    near(content.least_ns, fastest(&run, 1) + 0.5 * fastest(&run, 2));
    // Of too few starts of either nothing follows; of another size neither.
    let mut few = run.clone();
    few.invocations.retain(|start| start.variant != 2 || start.round < 2);
    assert_eq!(bounds_of(&Constants::OURS, &few, page, &few.variants[0]).content, None);
    few = run.clone();
    few.invocations.retain(|start| start.variant != 1 || start.round < 4);
    near(bounds_of(&Constants::OURS, &few, page, &few.variants[0]).content.unwrap().least_ns, 0.5 * fastest(&few, 2));
    row(&mut few, 2, "control/touch", "switch", &[("working_set", "1024")]);
    assert_eq!(bounds_of(&Constants::OURS, &few, page, &few.variants[0]).content, None);
    // A payload has no control, but a price; one that is lost in the modes of the row without it
    // says nothing.
    let mut sent = run.clone();
    let page = row(&mut sent, 0, "thread/pipe", "message", &[("payload", "1048576")]);
    row(&mut sent, 1, "thread/pipe", "message", &[]);
    near(
        bounds_of(&Constants::OURS, &sent, page, &sent.variants[0]).content.unwrap().least_ns,
        fastest(&sent, 1) + 0.02 * 1_048_576.0,
    );
    let page = row(&mut sent, 0, "thread/pipe", "message", &[("payload", "64")]);
    let least = bounds_of(&Constants::OURS, &sent, page, &sent.variants[0]).content.unwrap().least_ns;
    assert!(least < 2.0, "{least}");
    let page = row(&mut run, 0, "stack/ucontext", "switch", &[]);
    row(&mut run, 2, "control/signal-mask", "switch", &[]);
    near(bounds_of(&Constants::OURS, &run, page, &run.variants[0]).content.unwrap().least_ns, 0.8 * fastest(&run, 2));
}
