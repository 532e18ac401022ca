//! A neighbour on the host's core: the rulers tell, the undisturbed figure does not move, and a run
//! that he never left is not compared.

use crate::simulation::{COST, Law, Random, disturb, document, draws, rows, run, slack};
use std::fmt::Write as _;
use switchcost_analysis::{
    Analysis, Noise, Of, Outcome, Row, Rules, Side, Why, between, slowed_throughout, verdicts, within,
};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Disturbance, Run};

const RUNS: u64 = 1000;

fn share(count: usize) -> f64 {
    count as f64 * 100.0 / draws(RUNS) as f64
}

/// The neighbour of a shared host is in no counter of the system. The rulers feel it, and the
/// figure of the undisturbed batches does not move.
#[test]
fn a_neighbour_moves_the_figure_and_not_the_undisturbed_one() {
    const STARTS: u64 = 20;
    let mut table = String::from(
        "| time that the neighbour slows by 35 % | median of all batches | undisturbed | its interval holds the quiet one | reported as slowed |\n|---|---|---|---|---|\n",
    );
    for (share_of_time, linked) in [(0.0, true), (0.3, true), (0.6, true), (0.8, true), (0.6, false)] {
        let (mut plain, mut calm, mut told, mut far, mut held) = (Vec::new(), Vec::new(), 0, 0, 0);
        for number in 0..draws(RUNS) {
            let random = &mut Random::new(number);
            let mut run = run(Law::Normal, &[1.0], STARTS, random);
            disturb(&mut run, share_of_time, 1.35, linked, random);
            let rows = rows(&run);
            let (median, undisturbed) = (rows[0].figure(Of::Medians).unwrap().0, rows[0].undisturbed.as_ref().unwrap());
            plain.push(median);
            told += usize::from(undisturbed.factor(median).is_some() || undisturbed.lacking().is_some());
            if let Some((own, interval)) = undisturbed.median.zip(undisturbed.interval) {
                calm.push(own);
                far += usize::from((own / COST - 1.0).abs() > 0.03);
                held += usize::from((interval.low..=interval.high).contains(&COST));
            }
        }
        let off = |values: &[f64]| (switchcost_stats::median(values).unwrap() / COST - 1.0) * 100.0;
        let neighbour = if linked { "" } else { ", the ruler at other times" };
        let held = held as f64 * 100.0 / calm.len() as f64;
        let _ = writeln!(
            table,
            "| {:.0} %{neighbour} | {:+.1} % | {:+.1} % | {} | {:.1} % |",
            share_of_time * 100.0,
            off(&plain),
            off(&calm),
            if linked { format!("{held:.1} %") } else { "–".to_owned() },
            share(told)
        );
        if linked {
            assert!(
                far <= 5 && held >= 90.0 - slack(90.0, draws(RUNS)),
                "{share_of_time}: {far} beyond 3 %, {held} % held"
            );
            assert!(
                share_of_time < 0.5 || share(told) >= 98.0 - slack(98.0, draws(RUNS)),
                "{share_of_time}: {} % told",
                share(told)
            );
        }
        // In the last line the rulers do tell that the machine was slowed, and the figure does not
        // follow them.
        assert!(
            linked && share_of_time > 0.0 || share(told) <= 5.0 + slack(5.0, draws(RUNS)),
            "{share_of_time}: {} % invented",
            share(told)
        );
    }
    document("rulers", &table);
}

/// A neighbour beside every start of one row, whose figure is then that of all its batches; the
/// other's is corrected. Their ratio is that of the figures which stand beside it, or none.
#[test]
fn a_ratio_fits_the_figures_beside_it() {
    let random = &mut Random::new(1);
    let mut quiet = run(Law::Normal, &[1.0, 2.0], 12, random);
    let mut run = quiet.clone();
    disturb(&mut quiet, 0.0, 1.35, true, random);
    disturb(&mut run, 1.0, 1.35, true, random);
    // Beside the first row he leaves for two batches of five.
    for (start, quiet) in run.invocations.iter_mut().zip(quiet.invocations).filter(|(start, _)| start.variant == 0) {
        for (samples, quiet) in start.transcript.samples.iter_mut().zip(quiet.transcript.samples) {
            for batch in (0..samples.ticks.len()).filter(|batch| batch % 5 >= 3) {
                samples.ticks[batch] = quiet.ticks[batch];
                for (name, rulers) in &mut samples.rulers {
                    rulers[batch] = quiet.rulers[name][batch];
                }
            }
        }
    }
    let rows = rows(&run);
    let [a, b] = [&rows[0], &rows[1]];
    assert_eq!([a.basis(), b.basis()], [Of::Undisturbed, Of::Medians]);
    let compared = within(a, b, &Noise::default(), &Rules { threshold: 0.03, comparisons: 1 }).unwrap();
    let figures = b.median().unwrap() / a.median().unwrap();
    assert!((compared.ratio / figures - 1.0).abs() < 0.01, "{} beside {figures}", compared.ratio);
    assert_eq!((compared.outcome, compared.interval), (Outcome::CannotTell, None));
    assert!(matches!(compared.why, Some(Why::OneCorrected(_))), "{:?}", compared.why);
}

/// A neighbour who never leaves makes his state the run's best: only the other run knows better.
#[test]
fn a_run_that_was_slowed_throughout_is_not_compared() {
    let random = &mut Random::new(1);
    let [mut quiet, mut slow] = [0, 1].map(|_| run(Law::Normal, &[1.0], 10, random));
    disturb(&mut quiet, 0.0, 1.35, true, random);
    disturb(&mut slow, 1.0, 1.35, true, random);
    // A kernel whose system calls cost more, and a clock that is set lower, are what one compares,
    // and no neighbour.
    let times = |run: &Run, times: &[(&str, i64)]| {
        let mut run = run.clone();
        for samples in run.invocations.iter_mut().flat_map(|invocation| &mut invocation.transcript.samples) {
            for (name, times) in times {
                samples.rulers.get_mut(*name).unwrap().iter_mut().for_each(|ticks| *ticks *= times);
            }
        }
        run
    };
    let (costlier, lower) =
        (times(&quiet, &[("calls", 2)]), times(&quiet, &[("chain", 2), ("width", 2), ("calls", 2)]));
    let [quiet, slow, costlier, lower] =
        [&quiet, &slow, &costlier, &lower].map(|run| Analysis::new(run, &Catalogue::default()));
    let throughout = |other| slowed_throughout(&quiet, other, "simulated");
    assert_eq!([&quiet, &costlier, &lower].map(throughout), [None, None, None]);
    let (quiet_row, slow_row) = (&quiet.rows[0], &slow.rows[0]);
    assert!(slow_row.undisturbed.as_ref().unwrap().lacking().is_none(), "by its own rulers nothing is wrong with it");
    let none = Noise::default();
    let compared =
        between(quiet_row, slow_row, (&none, &none), None, &Rules { threshold: 0.01, comparisons: 1 }).unwrap();
    assert_eq!(compared.outcome, Outcome::Slower, "which is false");
    let Some(Why::Slowed { side: Side::B, times }) = throughout(&slow) else { panic!("{:?}", throughout(&slow)) };
    assert!(times > 1.0 && times < 2.0, "{times}");
    let runs = [quiet, slow];
    let judged = verdicts(&[((0, &runs[0].rows[0]), (1, &runs[1].rows[0]))], &runs, 0.01).unwrap();
    let compared = &judged.comparisons[0];
    assert_eq!((compared.outcome, compared.interval), (Outcome::CannotTell, None));
}

/// Where too few starts were left alone, their scatter says nothing of the next run.
#[test]
fn a_row_that_others_disturbed_throughout_is_not_compared() {
    let random = &mut Random::new(2);
    let [quiet, mut busy] = [0, 1].map(|_| run(Law::Normal, &[1.0], 10, random));
    let disturbance = Disturbance::ForeignCpu { ns: 1, of_ns: 2 };
    busy.invocations.iter_mut().skip(5).for_each(|start| start.disturbances.push(disturbance.clone()));
    let none = Noise::default();
    let compared = |busy: &Run| {
        let (quiet, busy) = (rows(&quiet), rows(busy));
        let compared =
            between(&quiet[0], &busy[0], (&none, &none), None, &Rules { threshold: 0.01, comparisons: 1 }).unwrap();
        (compared.outcome, compared.why, busy[0].another_run())
    };
    let (outcome, why, another) = compared(&busy);
    assert_eq!((outcome, another), (Outcome::CannotTell, None));
    let reason = "other programs disturbed 5 of its 10 starts".to_owned();
    assert_eq!(why, Some(Why::Unsettled { side: Side::B, reason }));
    // With six that were left alone these stand for the row.
    busy.invocations[5].disturbances.clear();
    assert!(compared(&busy).2.is_some());
}

/// A neighbour blurs the kinds of starts; the undisturbed batches show them.
#[test]
fn modes_show_among_the_undisturbed_starts() {
    let random = &mut Random::new(3);
    let mut run = run(Law::Normal, &[1.0], 20, random);
    for start in run.invocations.iter_mut().step_by(2) {
        start
            .transcript
            .samples
            .iter_mut()
            .flat_map(|samples| &mut samples.ticks)
            .for_each(|ticks| *ticks = *ticks * 13 / 10);
    }
    disturb(&mut run, 0.5, 1.35, true, random);
    let row = &rows(&run)[0];
    let modes: Vec<f64> = row.summary.modes.iter().map(|mode| mode.value / COST).collect();
    assert!(modes.len() == 2 && (modes[0] - 1.0).abs() < 0.02 && (modes[1] - 1.3).abs() < 0.02, "{modes:?}");
}

/// A ruler that was not timed is one number, or the cost in another unit: it chooses no batches.
/// With the scatter of a clock it does.
#[test]
fn rulers_without_a_clock_s_scatter_move_nothing() {
    let random = &mut Random::new(5);
    let mut honest = run(Law::Normal, &[1.0, 1.0], 10, random);
    disturb(&mut honest, 0.3, 1.35, true, random);
    let forged = |ruler: fn(i64, u64) -> i64| {
        let mut run = honest.clone();
        for samples in run.invocations.iter_mut().flat_map(|start| &mut start.transcript.samples) {
            let readings = samples.ticks.iter().map(|ticks| ruler(*ticks, samples.units)).collect();
            samples.rulers.insert("chain".into(), readings);
        }
        rows(&run)[1].notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert!(
        !rows(&honest)[1].notes.iter().any(|note| note.code.starts_with("rulers_")),
        "{:?}",
        rows(&honest)[1].notes
    );
    let constant = forged(|_, _| 800);
    assert!(constant.contains("are one number in all batches"), "{constant}");
    let multiple = forged(|ticks, units| (ticks as f64 / units as f64 * 40.0).round() as i64);
    assert!(multiple.contains("are its costs in another unit"), "{multiple}");
    // A stranger's file may hold any number.
    let extreme = forged(|ticks, units| if ticks as f64 / units as f64 > COST { i64::MAX } else { i64::MIN });
    assert!(!extreme.contains("its costs"), "{extreme}");
    // Of ticks that are a tenth of the ruler nothing follows.
    let coarse = forged(|ticks, units| if ticks as f64 / units as f64 > COST { 12 } else { 11 });
    assert!(!coarse.contains("its probe's rulers"), "{coarse}");
}

/// A probe says that its clock was a fifth slower beside most batches of its row than beside the
/// rest, which would take a fifth off. No other row saw that clock.
#[test]
fn rulers_that_no_other_row_confirms_move_nothing() {
    let random = &mut Random::new(4);
    let mut honest = run(Law::Normal, &[1.0, 1.0, 1.0], 10, random);
    disturb(&mut honest, 0.0, 1.35, true, random);
    honest.variants[2].probe = "another".into();
    honest
        .invocations
        .iter_mut()
        .filter_map(|start| start.transcript.plan.as_mut())
        .for_each(|plan| plan.cpus = vec![1]);
    let mut told = honest.clone();
    for start in told.invocations.iter_mut().filter(|start| start.variant == 2) {
        for samples in &mut start.transcript.samples {
            let (usual, chain) = (COST * samples.units as f64, samples.rulers.get_mut("chain").unwrap());
            for (chain, ticks) in chain.iter_mut().zip(&samples.ticks).skip(8) {
                *chain = (*chain as f64 * 1.25 * *ticks as f64 / usual) as i64;
            }
        }
    }
    let judged = [&honest, &told].map(rows);
    let headline = |rows: &[Row<'_>]| rows[2].median().unwrap() / COST - 1.0;
    assert!(
        judged.iter().all(|rows| headline(rows).abs() < 0.02),
        "{:?}",
        judged.each_ref().map(|rows| headline(rows))
    );
    let basis = |rows: &[Row<'_>]| [0, 1, 2].map(|row| rows[row].basis());
    assert_eq!(basis(&judged[0]), [Of::Undisturbed; 3]);
    // Nobody knows which of the two probes is wrong.
    assert_eq!(basis(&judged[1]), [Of::Medians; 3]);
    assert!(judged[1][2].notes.iter().any(|note| note.code == "rulers_slower"));
    // By itself, nobody else can say; of a few rounds nothing follows.
    told.invocations.retain(|start| start.variant == 2);
    assert!(headline(&rows(&told)) < -0.15, "{}", headline(&rows(&told)));
}
