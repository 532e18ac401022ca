//! Histograms of `timing=each` against themselves.

use super::*;

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
    contradicted(|h| (h.min, h.max) = (9, 8), "shortest_above_longest max=8 min=9");
    contradicted(|h| h.min = 1, "shortest_outside min=1");
    contradicted(|h| h.max = 1_000_000, "longest_outside max=1000000");
    contradicted(|h| h.sum = 1, "sum_outside least=120040 most=129040 sum=1");
    contradicted(|h| h.pair_count = 1, "readings_differ intervals=3000 readings=1");
    contradicted(|h| h.pair_sum = 0, "free_readings readings=3000");
    contradicted(|h| h.span_clock = 0, "no_span");
    contradicted(|h| h.span_counter = 10, "span_too_short inside=180050 span=10");
    contradicted(|h| h.span_clock = 1_000_000_000_000, "longer_than_lived claimed_ms=1000000.1 lived_ms=10000.0");
    // Readings that cost as much as what they surround.
    check(
        &with(|h| h.pair_sum = 120_060),
        Verdict::Unobservable,
        "below_reading least=2.001 left=-0.00333 reading=40.02",
    );
}
