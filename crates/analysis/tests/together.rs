//! What refutes a row though each of its starts is sound by itself.

use crate::simulation::{Law, Random, draws, rows, run, slack};
use switchcost_analysis::{Noise, Outcome, Row, Rules, between};
use switchcost_model::{Histogram, Phase, Reason, Run, Verdict};

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

#[test]
fn the_host_knows_the_rate_of_the_counter() {
    let mut run = measured();
    run.machine.drifting.insert("clock.tsc_mhz_measured".to_owned(), "2600.0".to_owned());
    let told = |mut run: Run, per_us: u64, counter: &str| {
        for start in &mut run.invocations {
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
    assert_eq!(told(run.clone(), 2600, "tsc"), Verdict::Verified);
    assert_eq!(told(run.clone(), 2340, "tsc"), Verdict::Contradicted);
    assert_eq!(told(run.clone(), 1000, "System.nanoTime"), Verdict::Verified);
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
