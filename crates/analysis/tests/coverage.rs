//! The promises of `compare`, kept by counting: simulated runs go through the very functions that
//! it uses.
//!
//! Seeds are fixed. The counts are those of `docs/notebook/coverage.md`; where they differ, `make
//! generate` puts what the test counted last into it.

use crate::simulation::{Law, Random, document, draws, noise, rows, run, slack};
use std::fmt::Write as _;
use switchcost_analysis::{Comparison, Noise, Outcome, Row, Rules, TrendSearch, between, within};

const RUNS: u64 = 1000;
/// Where a share is held to a bound that it misses by no more than a point: by 4,000 runs it is
/// known to 0.3 points.
const MANY: u64 = 4000;
const ROUNDS: u64 = 10;
const LAWS: [Law; 7] =
    [Law::Normal, Law::Outliers, Law::Bimodal, Law::Drift(0.02), Law::Drift(0.20), Law::Ties(0.005), Law::Ties(0.01)];

/// Threshold for false alarms and small differences: a tighter one than the default 3 %, which
/// would hide most false alarms.
const STRICT: f64 = 0.01;

fn rules(threshold: f64) -> Rules {
    Rules { threshold, comparisons: 1 }
}

fn share(count: usize) -> f64 {
    count as f64 * 100.0 / draws(RUNS) as f64
}

/// Counts the simulated runs, numbered from 0, for which `holds`.
fn count(mut holds: impl FnMut(&mut Random) -> bool) -> usize {
    (0..draws(RUNS)).filter(|number| holds(&mut Random::new(*number))).count()
}

/// Shares in %: of intervals that hold the true ratio, and of comparisons with the verdict that A
/// and B differ. Rows whose modes overlap have no interval; what the few others of such a law hold
/// says nothing (NaN).
fn shares(runs: u64, factor: f64, mut compared: impl FnMut(&mut Random) -> Comparison) -> (f64, f64) {
    let (mut given, mut held, mut found) = (0_u32, 0_u32, 0_u32);
    let runs = draws(runs);
    for number in 0..runs {
        let comparison = compared(&mut Random::new(number));
        found += u32::from(differs(comparison.outcome));
        if let Some((low, high)) = comparison.interval {
            given += 1;
            held += u32::from(low <= factor + 1e-9 && factor - 1e-9 <= high);
        }
    }
    let held = if u64::from(given) * 2 < runs { f64::NAN } else { f64::from(held) * 100.0 / f64::from(given) };
    (held, f64::from(found) * 100.0 / runs as f64)
}

fn percent(share: f64) -> String {
    if share.is_nan() { "–".to_owned() } else { format!("{share:.1} %") }
}

/// A, its twin and B of a run in which B costs `factor` of A.
fn rows_of<T>(
    law: Law,
    factor: f64,
    rounds: u64,
    random: &mut Random,
    judge: impl FnOnce(&[&Row<'_>], &Noise) -> T,
) -> T {
    let run = run(law, &[1.0, 1.0, factor], rounds, random);
    let rows = rows(&run);
    let rows: Vec<&Row<'_>> = rows.iter().collect();
    let noise = noise(rows[..2].iter().copied());
    judge(&rows, &noise)
}

fn differs(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Slower | Outcome::Faster)
}

/// Share of the intervals of one median that hold the true one (NaN where hardly a row has any),
/// and of rows that have a range instead.
fn single_median(law: Law) -> (f64, f64) {
    let truth = law.true_median(ROUNDS);
    let (mut held, mut ranges) = (0, 0);
    for number in 0..draws(RUNS) {
        let run = run(law, &[1.0], ROUNDS, &mut Random::new(number));
        let row = &rows(&run)[0];
        let interval = row.summary.figures.as_ref().unwrap().interval;
        assert!(interval.is_some() || row.range().is_some() || !row.summary.modes.is_empty(), "{law}");
        ranges += usize::from(interval.is_none());
        held += usize::from(interval.is_some_and(|interval| (interval.low..=interval.high).contains(&truth)));
    }
    let given = draws(RUNS) as f64 - ranges as f64;
    let few = given < 0.1 * draws(RUNS) as f64;
    (if few { f64::NAN } else { held as f64 * 100.0 / given }, share(ranges))
}

/// Share of runs in which the interval of B ÷ A holds the true ratio, and in which a verdict finds
/// a difference.
fn within_a_run(runs: u64, law: Law, factor: f64, threshold: f64) -> (f64, f64) {
    shares(runs, factor, |random| {
        rows_of(law, factor, ROUNDS, random, |rows, noise| within(rows[0], rows[2], noise, &rules(threshold)).unwrap())
    })
}

fn between_runs(runs: u64, law: Law, factor: f64, threshold: f64) -> (f64, f64) {
    shares(runs, factor, |random| {
        let (first, second) = (run(law, &[1.0, 1.0], ROUNDS, random), run(law, &[factor, factor], ROUNDS, random));
        let (first, second) = (rows(&first), rows(&second));
        let floors = (noise(&first), noise(&second));
        between(&first[0], &second[0], (&floors.0, &floors.1), None, &rules(threshold)).unwrap()
    })
}

#[test]
fn coverage_and_false_alarms() {
    let mut table = String::from(
        "| noise | 95 % interval of one median holds the true one | a range instead | of the ratio, one run | false alarms, one run | of the ratio, two runs | false alarms, two runs |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for law in LAWS {
        let (single, ranges) = single_median(law);
        let (paired, paired_alarms) = within_a_run(MANY, law, 1.0, STRICT);
        let (unpaired, unpaired_alarms) = between_runs(MANY, law, 1.0, STRICT);
        let _ = writeln!(
            table,
            "| {law} | {} | {ranges:.1} % | {} | {paired_alarms:.1} % | {} | {unpaired_alarms:.1} % |",
            percent(single),
            percent(paired),
            percent(unpaired)
        );
        let most = if law.over_covers() { 100.0 } else { 97.0 };
        let (few, many) = (slack(93.0, draws(RUNS)), slack(93.0, draws(MANY)));
        assert!(single.is_nan() || (93.0 - few..=most + few).contains(&single), "{law}: one median {single} %");
        assert!(ranges <= 2.0 + slack(2.0, draws(RUNS)) || law.over_covers(), "{law}: {ranges} % have a range");
        assert!(
            (paired >= 93.0 - many || law == Law::Bimodal) && (unpaired >= 93.0 - many || unpaired.is_nan()),
            "{law}: {paired} % and {unpaired} %"
        );
        // Rows of two runs are compared mode by mode; of those that drift by much more than they
        // scatter, hardly one has an interval.
        let none = (law == Law::Bimodal, law == Law::Drift(0.20));
        assert_eq!((paired.is_nan(), unpaired.is_nan()), none, "{law}");
        let most = 5.0 + slack(5.0, draws(MANY));
        assert!(paired_alarms <= most && unpaired_alarms <= most, "{law}: {paired_alarms} % and {unpaired_alarms} %");
    }
    document("coverage", &table);
}

#[test]
fn small_differences_are_found() {
    let mut table = String::from("| true difference | noise | found, one run | found, two runs |\n|---|---|---|---|\n");
    for law in [Law::Normal, Law::Drift(0.20)] {
        for factor in [1.02, 1.03, 1.05] {
            let (_, paired) = within_a_run(RUNS, law, factor, STRICT);
            let (_, unpaired) = between_runs(RUNS, law, factor, STRICT);
            let _ = writeln!(table, "| {:.0} % | {law} | {paired:.1} % | {unpaired:.1} % |", (factor - 1.0) * 100.0);
            let least = 95.0 - slack(95.0, draws(RUNS));
            if factor >= 1.03 {
                assert!(paired >= least, "{law} {factor}: {paired} %");
            }
            if factor >= 1.03 && law == Law::Normal {
                assert!(unpaired >= least, "{law} {factor}: {unpaired} %");
            }
        }
    }
    document("power", &table);
}

/// What is called detectable is detected, in other runs with the same noise, each with a noise
/// floor of its own.
#[test]
fn the_smallest_detectable_difference_is_detected() {
    let mut table = String::from("| noise | called detectable (median of runs) | found, one run |\n|---|---|---|\n");
    for (law, least) in [(Law::Normal, 95.0), (Law::Outliers, 80.0)] {
        let mut detectable: Vec<f64> = Vec::new();
        count(|random| {
            rows_of(law, 1.0, ROUNDS, random, |rows, noise| {
                detectable.extend(within(rows[0], rows[2], noise, &rules(0.0)).unwrap().detectable);
                true
            })
        });
        let typical = switchcost_stats::median(&detectable).unwrap();
        let (_, found) = within_a_run(RUNS, law, 1.0 + typical, 0.0);
        let _ = writeln!(table, "| {law} | {:.2} % | {found:.1} % |", typical * 100.0);
        assert!(
            found >= least - slack(least, draws(RUNS)),
            "{law}: {:.2} % is found in {found} % of runs",
            typical * 100.0
        );
    }
    document("detectable", &table);
}

/// A machine that is not the same from run to run: what no interval of one run can know is granted
/// by the family's figure.
#[test]
fn runs_that_scatter_among_each_other() {
    const BETWEEN: [f64; 4] = [0.0, 0.005, 0.01, 0.03];
    let mut table = String::from(
        "| starts, between runs | interval of B ÷ A, two runs | false alarms | `another_run` holds the other's median |\n|---|---|---|---|\n",
    );
    for between_runs in BETWEEN {
        let (mut again, mut known) = (0, 0);
        let (held, alarms) = shares(MANY, 1.0, |random| {
            let factor = (between_runs * random.normal()).exp();
            let (first, second) =
                (run(Law::Normal, &[factor], ROUNDS, random), run(Law::Normal, &[1.0], ROUNDS, random));
            let (mut first, mut second) = (rows(&first), rows(&second));
            // One of the two stands for the difference of both.
            let deviation = between_runs * std::f64::consts::FRAC_1_SQRT_2;
            (first[0].judged.run_to_run, second[0].judged.run_to_run) = (deviation, deviation);
            let another = first[0].another_run();
            known += u32::from(another.is_some());
            again += u32::from(another.is_some_and(|(low, high)| (low..=high).contains(&second[0].median().unwrap())));
            between(&first[0], &second[0], (&Noise::default(), &Noise::default()), None, &rules(0.0)).unwrap()
        });
        let again = f64::from(again) * 100.0 / f64::from(known);
        let _ = writeln!(table, "| 1 %, {:.1} % | {held:.1} % | {alarms:.1} % | {again:.1} % |", between_runs * 100.0);
        let few = slack(93.0, draws(MANY));
        assert!(
            (93.0 - few..=99.0 + few).contains(&held) && alarms <= 5.0 + few && again >= 93.0 - few,
            "{between_runs}: {held}, {alarms}, {again}"
        );
    }
    document("between", &table);
}

/// All words of a table together are wrong in at most 5 % of runs.
#[test]
fn several_comparisons_are_corrected() {
    let rules = Rules { threshold: 0.0, comparisons: 10 };
    let mut corrected = 0;
    let uncorrected = count(|random| {
        let run = run(Law::Normal, &[1.0; 12], ROUNDS, random);
        let rows = rows(&run);
        let excludes = |row, rules: &Rules| {
            let interval = within(&rows[0], row, &Noise::default(), rules).unwrap().interval;
            interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
        };
        let alarm = |rules: &Rules| rows[2..].iter().any(|row| excludes(row, rules));
        corrected += usize::from(alarm(&rules));
        alarm(&Rules { comparisons: 1, ..rules })
    });
    assert!(share(corrected) <= 5.0 + slack(5.0, draws(RUNS)), "{} % of tables hold a false alarm", share(corrected));
    assert!(
        share(uncorrected) > 10.0,
        "without correction only {} %: the test would not see a lost one",
        share(uncorrected)
    );
}

/// The same between two runs, at a level so high that only the tails of the bootstrap distribution
/// count.
#[test]
fn sixty_rows_of_two_runs_are_corrected() {
    let rules = Rules { threshold: 0.0, comparisons: 60 };
    let none = Noise::default();
    let tables = draws(200);
    let alarms = (0..tables)
        .filter(|number| {
            let mut random = Random::new(*number);
            let (first, second) =
                (run(Law::Normal, &[1.0; 60], ROUNDS, &mut random), run(Law::Normal, &[1.0; 60], ROUNDS, &mut random));
            let (first, second) = (rows(&first), rows(&second));
            first
                .iter()
                .zip(&second)
                .any(|(a, b)| differs(between(a, b, (&none, &none), None, &rules).unwrap().outcome))
        })
        .count();
    at_most_one_in_twenty(alarms, tables);
}

/// Two standard deviations of all draws above one in twenty.
fn at_most_one_in_twenty(alarms: usize, tables: u64) {
    let share = alarms as f64 * 100.0 / tables as f64;
    assert!(share <= 8.0 + slack(5.0, tables), "{alarms} of {tables} tables hold a false alarm");
}

/// The same within a run of so few rounds that pairs cannot reach the level: sets of invocations
/// take their place, and still find what is there.
#[test]
fn sixty_rows_of_one_run_are_corrected() {
    let rules = Rules { threshold: 0.0, comparisons: 60 };
    let none = Noise::default();
    let (mut alarms, mut found) = (0, 0);
    let tables = draws(200);
    for number in 0..tables {
        let mut factors = vec![1.0; 61];
        factors.push(1.05);
        let run = run(Law::Normal, &factors, ROUNDS, &mut Random::new(number));
        let rows = rows(&run);
        let compared = |row: &Row<'_>| within(&rows[0], row, &none, &rules).unwrap();
        alarms += usize::from(rows[1..61].iter().any(|row| differs(compared(row).outcome)));
        let costlier = compared(&rows[61]);
        assert!(!costlier.paired);
        found += usize::from(costlier.outcome == Outcome::Slower);
    }
    at_most_one_in_twenty(alarms, tables);
    let share = found as f64 * 100.0 / tables as f64;
    assert!(share >= 90.0 - slack(90.0, tables), "5 % is found in {found} of {tables} tables");
}

/// The A/A pair of a noisy family says nothing of a quiet one.
#[test]
fn a_noisy_family_hides_nothing_elsewhere() {
    let factors = [1.0, 1.0, 1.0, 1.03];
    let mut alarms = 0;
    let found = count(|random| {
        let mut noisy = run(Law::Scatter(0.05), &factors[..2], ROUNDS, random);
        let quiet = run(Law::Normal, &factors, ROUNDS, random);
        for variant in &mut noisy.variants {
            variant.mechanism = "fiber/noisy".parse().unwrap();
        }
        let (noisy, quiet) = (rows(&noisy), rows(&quiet));
        let noise = noise(noisy.iter().chain(&quiet[..2]));
        assert_eq!(noise.families.len(), 2);
        alarms += usize::from(differs(within(&quiet[0], &quiet[2], &noise, &rules(STRICT)).unwrap().outcome));
        differs(within(&quiet[0], &quiet[3], &noise, &rules(STRICT)).unwrap().outcome)
    });
    assert!(share(alarms) <= 5.0 + slack(5.0, draws(RUNS)), "{} % false alarms", share(alarms));
    assert!(share(found) >= 95.0 - slack(95.0, draws(RUNS)), "3 % is found in {} % of runs", share(found));
}

/// A sound run is rarely called unstable, one whose A/A pair differs always.
#[test]
fn unstable_runs_are_told_from_sound_ones() {
    for law in LAWS {
        let unstable = share(count(|random| rows_of(law, 1.0, ROUNDS, random, |_, noise| noise.unstable.is_some())));
        assert!(unstable <= 2.0 + slack(2.0, draws(RUNS)), "{law}: {unstable} % of sound runs are refused");
    }
    // Six rounds hold no interval at 99 %: at 95 % one sound run in thirty would be refused.
    let of_six = count(|random| {
        let run = run(Law::Scatter(0.5), &[1.0, 1.0], 6, random);
        noise(&rows(&run)).unstable.is_some()
    });
    assert_eq!(of_six, 0);
    let caught = count(|random| {
        let run = run(Law::Normal, &[1.0, 1.05], ROUNDS, random);
        noise(&rows(&run)).unstable.is_some()
    });
    assert!(share(caught) >= 95.0 - slack(95.0, draws(RUNS)), "{} %", share(caught));
}

/// Figures of successive runs, 1 % apart by chance and each `phi` of the one before, and from run
/// `at` on more expensive by `factor`.
fn history(runs: usize, (outliers, phi): (bool, f64), at: usize, factor: f64, random: &mut Random) -> Vec<f64> {
    let mut off = random.normal();
    (0..runs)
        .map(|i| {
            let odd = if outliers && random.uniform() < 0.05 { 1.0 + 0.5 * random.uniform() } else { 1.0 };
            let figure = (0.01 * off).exp() * odd * if i >= at { factor } else { 1.0 };
            off = phi * off + (1.0 - phi * phi).sqrt() * random.normal();
            figure
        })
        .collect()
}

/// Share of series with a change, and with one within one run of `at`.
fn found(search: &mut TrendSearch, runs: usize, law: (bool, f64), at: usize, factor: f64) -> (f64, f64) {
    let (mut any, mut near) = (0, 0);
    for number in 0..draws(RUNS) {
        let changes = search.trend(&history(runs, law, at, factor, &mut Random::new(number))).changes;
        any += usize::from(!changes.is_empty());
        near += usize::from(changes.iter().any(|change| change.at.abs_diff(at) <= 1));
    }
    (share(any), share(near))
}

/// Trends: no change where there is none, and a step found where it is.
#[test]
fn changes_of_level_are_found_and_not_invented() {
    let mut table = String::from(
        "| runs | noise between runs | false alarms | step of 5 % in the middle: found | within one run of it | step of 5 % three runs before the end: found |\n\
         |---|---|---|---|---|---|\n",
    );
    for (runs, outliers, least) in
        [(10, false, 60.0), (20, false, 90.0), (40, false, 95.0), (20, true, 65.0), (40, true, 90.0)]
    {
        let mut search = TrendSearch::new(1);
        let mut found = |at, factor| found(&mut search, runs, (outliers, 0.0), at, factor);
        let (alarms, _) = found(0, 1.0);
        let ((middle, near), (late, _)) = (found(runs / 2, 1.05), found(runs - 3, 1.05));
        let noise = if outliers { "normal, 1 %, 5 % outliers" } else { "normal, 1 %" };
        let _ = writeln!(table, "| {runs} | {noise} | {alarms:.1} % | {middle:.1} % | {near:.1} % | {late:.1} % |");
        assert!(alarms <= 5.0 + slack(5.0, draws(RUNS)), "{runs} {noise}: {alarms} %");
        assert!(
            middle.min(near).min(late) >= least - slack(least, draws(RUNS)),
            "{runs} {noise}: {middle} {near} {late} %"
        );
    }
    document("changes", &table);
}

/// Trends of runs that are like the run before: their drift is not a change.
#[test]
fn drift_is_not_told_as_a_change() {
    const PHIS: [f64; 5] = [0.0, 0.3, 0.5, 0.7, 0.9];
    let mut table = String::from("| runs | |");
    PHIS.iter().for_each(|phi| table.push_str(&format!(" φ = {phi} |")));
    table.push_str("\n|---|---|---|---|---|---|---|\n");
    for runs in [10, 20, 40] {
        let mut search = TrendSearch::new(1);
        let alarms = PHIS.map(|phi| found(&mut search, runs, (false, phi), 0, 1.0).0);
        let steps = PHIS.map(|phi| found(&mut search, runs, (false, phi), runs / 2, 1.05).0);
        for (what, shares) in [("false alarms", alarms), ("step of 5 % in the middle: found", steps)] {
            let cells: String = shares.iter().map(|share| format!(" {share:.1} % |")).collect();
            let _ = writeln!(table, "| {runs} | {what} |{cells}");
        }
        // At 0.9 the level of 4 % is reached: three standard deviations of the count more.
        let few = slack(5.0, draws(RUNS));
        assert!(alarms[..4].iter().all(|share| *share <= 5.0 + few) && alarms[4] <= 5.9 + few, "{runs}: {alarms:?}");
    }
    document("drift", &table);
}
