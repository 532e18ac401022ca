//! The clock of a shared host: rows that follow it are given at one clock, others are left alone,
//! and a comparison of runs at two clocks says so.

use crate::simulation::{COST, Law, Random, document, draws, rows, run, slack};
use std::fmt::Write as _;
use switchcost_analysis::{Analysis, Noise, Of, Outcome, Rules, Why, between, clocks_differ, speeds};
use switchcost_catalogue::Catalogue;
use switchcost_model::Run;

const RUNS: u64 = 1000;
const STARTS: u64 = 10;
/// What the clock's ruler takes at the best clock, ns.
const CHAIN: u32 = 5130;

/// The clock keeps each of these levels for some 40 batches, as times of its best; the rulers are
/// read with the jitter of real ones, and so many in a hundred with an interrupt.
fn clocked(run: &mut Run, levels: &[f64], follows: bool, random: &mut Random) {
    let mut level = 0;
    for samples in run.invocations.iter_mut().flat_map(|invocation| &mut invocation.transcript.samples) {
        let (mut chain, mut width) = (Vec::new(), Vec::new());
        for ticks in &mut samples.ticks {
            if random.uniform() < 1.0 / 40.0 {
                level = (random.uniform() * levels.len() as f64) as usize;
            }
            let times = levels[level];
            *ticks = (*ticks as f64 * if follows { times } else { 1.0 }) as i64;
            let mut read = |ns: f64, jitter: f64| {
                let interrupt = if random.uniform() < 0.02 { 2.0 } else { 1.0 };
                (ns * times * interrupt * (1.0 + jitter * random.normal().abs())) as i64
            };
            chain.push(read(f64::from(CHAIN), 0.003));
            width.push(read(1680.0, 0.04));
        }
        samples.rulers.extend([("chain".to_owned(), chain), ("width".to_owned(), width)]);
    }
}

#[test]
fn a_figure_is_given_at_the_run_s_clock_if_it_follows_it() {
    let mut table = String::from(
        "| clock | row | median of all batches | headline | its interval holds the one at the run's clock | found to follow | found not to |\n|---|---|---|---|---|---|---|\n",
    );
    for (levels, words, follows) in [
        (&[1.0][..], "still", true),
        (&[1.0, 1.03, 1.08], "within 8 %", true),
        (&[1.0, 1.03, 1.08], "within 8 %", false),
        (&[1.0, 1.15], "within 15 %", true),
        (&[1.0, 1.15], "within 15 %", false),
    ] {
        let (mut plain, mut best, mut held, mut told) = (Vec::new(), Vec::new(), 0, [0, 0]);
        for number in 0..draws(RUNS) {
            let random = &mut Random::new(number);
            let mut run = run(Law::Normal, &[1.0], STARTS, random);
            clocked(&mut run, levels, follows, random);
            let rows = rows(&run);
            let undisturbed = rows[0].undisturbed.as_ref().unwrap();
            plain.push(rows[0].figure(Of::Medians).unwrap().0);
            best.push(rows[0].median().unwrap());
            assert_eq!(rows[0].basis(), Of::Undisturbed);
            // The clock that the run kept is the best, unless fewer batches had that than a fifth.
            let kept = speeds(&run)["simulated"]["chain"].kept / f64::from(CHAIN);
            let cost = if follows { COST * kept } else { COST };
            held += usize::from(undisturbed.interval.is_some_and(|i| (i.low..=i.high).contains(&cost)));
            told[usize::from(undisturbed.follows_clock == Some(false))] +=
                usize::from(undisturbed.follows_clock.is_some());
        }
        let off = |values: &[f64]| (switchcost_stats::median(values).unwrap() / COST - 1.0) * 100.0;
        let share = |count: usize| count as f64 * 100.0 / draws(RUNS) as f64;
        let row = if follows { "follows it" } else { "does not" };
        let _ = writeln!(
            table,
            "| {words} | {row} | {:+.1} % | {:+.1} % | {:.1} % | {:.1} % | {:.1} % |",
            off(&plain),
            off(&best),
            share(held),
            share(told[0]),
            share(told[1])
        );
        assert!(
            (93.0 - slack(93.0, draws(RUNS))..=98.0 + slack(98.0, draws(RUNS))).contains(&share(held)),
            "{words}, {row}: {}",
            share(held)
        );
        assert!(off(&best).abs() < 1.0, "{words}, {row}: {}", off(&best));
        assert!(
            share(told[usize::from(follows)]) < 1.0 + slack(1.0, draws(RUNS)),
            "{words}, {row}: {told:?} told the wrong way"
        );
    }
    document("clock", &table);
}

/// A clock that one of two runs never reached is neither a regression nor none: the answer holds
/// both.
#[test]
fn two_runs_at_two_clocks_are_not_a_regression() {
    let (mut slower, mut alarms, mut found) = (0, 0, 0);
    let runs = draws(200);
    for number in 0..runs {
        let random = &mut Random::new(number);
        let [mut a, mut b] = [0, 1].map(|_| run(Law::Normal, &[1.0], STARTS, random));
        let mut planted = run(Law::Normal, &[1.3], STARTS, random);
        clocked(&mut a, &[1.0, 1.03], true, random);
        clocked(&mut b, &[1.08, 1.11], true, random);
        clocked(&mut planted, &[1.08, 1.11], true, random);
        let [a, b, planted] = [&a, &b, &planted].map(|run| Analysis::new(run, &Catalogue::default()));
        let clock = clocks_differ(&a, &b, "simulated");
        // Either run may have kept either of its levels.
        assert!(clock.is_some_and(|log| (log - 1.08_f64.ln()).abs() < 0.04), "{clock:?}");
        assert_eq!(clocks_differ(&a, &a, "simulated"), None);
        let (none, rules) = (Noise::default(), Rules { threshold: 0.03, comparisons: 1 });
        let verdict =
            |other: &Analysis<'_>, clock| between(&a.rows[0], &other.rows[0], (&none, &none), clock, &rules).unwrap();
        let told = verdict(&b, clock);
        slower += u64::from(verdict(&b, None).outcome == Outcome::Slower);
        alarms += u64::from(told.outcome == Outcome::Slower);
        assert!(told.outcome == Outcome::Slower || matches!(told.why, Some(Why::Clock(log)) if log > 0.0), "{told:?}");
        found += u64::from(verdict(&planted, clock).outcome == Outcome::Slower);
    }
    let share = |count: u64| count as f64 * 100.0 / runs as f64;
    let few = slack(95.0, runs);
    assert!(share(slower) > 95.0 - few, "without the clock's share {slower} of {runs} are false alarms");
    assert!(share(alarms) <= 5.0 + few, "{alarms} of {runs} are false alarms");
    assert!(share(found) > 95.0 - few, "of 30 % beside the clock {found} of {runs} are found");
}
