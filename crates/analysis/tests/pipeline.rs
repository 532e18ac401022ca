//! The whole way from batches to a row, as the scheduler and the ladder go it: warm-up, disturbed
//! starts, modes, starts that follow one another, looks.

use crate::simulation::{COST, Course, Law, Random, disturb, document, draws, noise, rows, run, slack, together};
use std::fmt::Write as _;
use std::ops::Range;
use switchcost_analysis::{
    At, Comparison, LOOKS, Noise, Outcome, Row, Rules, Speeds, Summary, THRESHOLD, between, settled, within,
};
use switchcost_model::Run;

/// A share near a bound is known to 0.4 points by so many.
const RUNS: u64 = 4000;
const ROUNDS: u64 = 10;

/// Nothing happens on the way.
const PLAIN: Course =
    Course { starts: 0.0, batches: 0.0, warmup: 0.0, disturbed: 0.0, slope: 0.0, kinds: (0.0, 0.0), linked: false };

fn share(part: usize, whole: usize) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

/// A run to ±2 % as the scheduler makes it: its single row, and how many rounds it had when it
/// ended.
fn to_precision<T>(course: Course, law: Law, random: &mut Random, judge: impl FnOnce(&Row<'_>, u64) -> T) -> T {
    let most = LOOKS.last().unwrap().0;
    let mut run = Run { request: switchcost_model::Request::default(), ..course.run(law, &[1.0], most, random) };
    let mut starts = std::mem::take(&mut run.invocations).into_iter().peekable();
    for (rounds, _) in LOOKS {
        run.invocations.extend(std::iter::from_fn(|| starts.next_if(|start| start.round < rounds)));
        let rows = rows(&run);
        if rounds == most || rows[0].summary.precise {
            return judge(&rows[0], rounds);
        }
    }
    unreachable!("the last look ends it")
}

/// What became of the runs of one line.
#[derive(Default)]
struct Tally {
    one: usize,
    held: usize,
    rounds: u64,
    told: usize,
    ranges: usize,
}

fn tally(course: Course, law: Law) -> Tally {
    let truth = course.true_median(law, LOOKS.last().unwrap().0);
    let mut tally = Tally::default();
    for number in 0..draws(RUNS) {
        to_precision(course, law, &mut Random::new(number), |row, rounds| {
            tally.rounds += rounds;
            tally.ranges += usize::from(row.range().is_some());
            if let Some((low, high)) = row.interval().filter(|_| row.summary.modes.is_empty()) {
                tally.one += 1;
                tally.held += usize::from((low..=high).contains(&truth));
                tally.told += usize::from(row.notes.iter().any(|note| note.code == "follow"));
            }
        });
    }
    tally
}

/// Each step alone and all of them together.
#[test]
fn intervals_hold_over_the_whole_way() {
    let spread = |by: f64| Law::Scatter(by);
    let followed = |starts: f64| Course { starts, ..PLAIN };
    let warming = Course { warmup: 0.3, ..PLAIN };
    let disturbed = Course { disturbed: 0.2, ..PLAIN };
    let all = Course { starts: 0.3, batches: 0.5, warmup: 0.3, disturbed: 0.2, linked: true, ..PLAIN };
    let mut lines: Vec<(Law, Course, &str)> = Vec::new();
    lines.extend([0.01, 0.02, 0.03, 0.04, 0.06].map(|by| (spread(by), PLAIN, "")));
    lines.extend([(Law::Outliers, PLAIN, ""), (Law::Tail(0.04), PLAIN, "")]);
    lines.extend([
        (spread(0.02), warming, ", begin 30 % higher"),
        (spread(0.02), Course { batches: 0.8, ..PLAIN }, ", each batch like the one before (0.8)"),
        (spread(0.02), disturbed, ", 20 % disturbed"),
        (spread(0.02), Course { linked: true, ..disturbed }, ", 20 % disturbed, mostly the costlier"),
    ]);
    lines.extend([0.01, 0.02, 0.03].map(|by| (spread(by), followed(0.3), ", each like the one before (0.3)")));
    lines.push((spread(0.02), all, ", all of these"));
    lines.extend([0.01, 0.02, 0.03].map(|by| (spread(by), followed(0.5), ", each like the one before (0.5)")));
    lines.extend([(0.45, 0.05), (0.4, 0.12), (0.3, 0.5)].map(|(part, by)| (Law::Mixed(part, by), PLAIN, "")));
    let mut table = String::from(
        "| starts | rounds | told | a range | one number | its 95 % interval holds the true median | one number that misses it, of all rows |\n|---|---|---|---|---|---|---|\n",
    );
    let mut wrong: Vec<String> = Vec::new();
    for (law, course, what) in lines {
        let found = tally(course, law);
        let (one, held) = (share(found.one, draws(RUNS) as usize), share(found.held, found.one));
        let missed = share(found.one - found.held, draws(RUNS) as usize);
        let rounds = found.rounds as f64 / draws(RUNS) as f64;
        let [told, ranges] = [found.told, found.ranges].map(|count| share(count, draws(RUNS) as usize));
        let _ = writeln!(
            table,
            "| {law}{what} | {rounds:.0} | {told:.1} % | {ranges:.1} % | {one:.1} % | {held:.1} % | {missed:.1} % |"
        );
        if course.starts <= 0.0 && ranges > 2.0 + slack(2.0, draws(RUNS)) {
            wrong.push(format!("{law}{what}: {ranges:.1} % have a range"));
        }
        // A single row whose starts are very much alike says too little of their scatter, and has
        // no others to ask; rows that show one number although they have two kinds are the unlucky
        // ones.
        let least = if course.starts > 0.4 { 89.0 } else { 93.0 };
        let few = slack(least, draws(RUNS));
        if (one >= 80.0 && !(least - few..=97.0 + few).contains(&held)) || missed > 100.0 - least + few {
            wrong.push(format!("{law}{what}: {held:.1} %, {missed:.1} %"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    document("pipeline", &table);
}

/// Ten rounds of runs of three rows whose starts follow one another, each row's by themselves.
#[test]
fn starts_that_follow_one_another() {
    // Correlation; of all rows and of all pairs of runs, the least share that no wrong interval is
    // given of; most false alarms between two runs and within one.
    const PHIS: [(f64, f64, f64, (f64, f64)); 6] = [
        (0.0, 93.0, 93.0, (5.0, 5.0)),
        (0.3, 93.0, 93.0, (5.0, 5.0)),
        (0.5, 93.0, 93.0, (5.0, 7.0)),
        (0.7, 85.0, 86.0, (10.0, 11.0)),
        (0.8, 85.0, 86.0, (10.0, 14.0)),
        (0.95, 60.0, 70.0, (12.0, 24.0)),
    ];
    let rules = Rules { threshold: 0.01, comparisons: 1 };
    let mut table = String::from(
        "| correlation of neighbours | a range | interval of one median | is wider by | of the ratio, one run | false alarms | of the ratio, two runs | false alarms |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (phi, least, least_of_two, (most_alarms, most_within)) in PHIS {
        let course = Course { starts: phi, ..PLAIN };
        let truth = course.true_median(Law::Normal, ROUNDS);
        let (mut one, mut ranges, mut wider) = (0, 0, 0.0);
        let (mut paired, mut unpaired) = ((0, 0, 0), (0, 0, 0));
        for number in 0..draws(RUNS) {
            let mut random = Random::new(number);
            let (first, second) = (
                course.run(Law::Normal, &[1.0, 1.0, 1.0], ROUNDS, &mut random),
                course.run(Law::Normal, &[1.0, 1.0], ROUNDS, &mut random),
            );
            let (first, second) = (rows(&first), rows(&second));
            ranges += usize::from(first[0].range().is_some());
            if let Some((low, high)) = first[0].interval() {
                one += usize::from((low..=high).contains(&truth));
                wider += first[0].summary.widened - 1.0;
            }
            // A row in whose starts modes seem to be has no ratio.
            let count = |counts: &mut (usize, usize, usize), compared: Comparison| {
                counts.2 += usize::from(compared.interval.is_some());
                let holds = |(low, high): (f64, f64)| (low - 1e-9..=high + 1e-9).contains(&1.0);
                counts.0 += usize::from(compared.interval.is_some_and(holds));
                counts.1 += usize::from(matches!(compared.outcome, Outcome::Slower | Outcome::Faster));
            };
            let noise_of = |rows: &[Row<'_>]| noise(&rows[..2]);
            let floors: (Noise, Noise) = (noise_of(&first), noise_of(&second));
            count(&mut paired, within(&first[0], &first[2], &floors.0, &rules).unwrap());
            count(&mut unpaired, between(&first[0], &second[0], (&floors.0, &floors.1), None, &rules).unwrap());
        }
        let of = |count: usize| share(count, draws(RUNS) as usize);
        let given = draws(RUNS) as usize - ranges;
        let right = 100.0 - of(given - one);
        let one = share(one, given);
        let _ = writeln!(
            table,
            "| {phi} | {:.1} % | {one:.1} % | {:.0} % | {:.1} % | {:.1} % | {:.1} % | {:.1} % |",
            of(ranges),
            wider * 100.0 / given as f64,
            share(paired.0, paired.2),
            of(paired.1),
            share(unpaired.0, unpaired.2),
            of(unpaired.1)
        );
        let few = slack(least, draws(RUNS));
        assert!(right >= least - few && one <= 97.0 + few, "{phi}: {right} %, {one} %");
        assert!(phi > 0.5 || one >= least - few, "{phi}: {one} %");
        assert!(phi > 0.0 || of(ranges) <= 2.0 + slack(2.0, draws(RUNS)), "{phi}: {} % have a range", of(ranges));
        let (right, ratio) = (100.0 - of(unpaired.2 - unpaired.0), share(unpaired.0, unpaired.2));
        assert!(right >= least_of_two - few && ratio <= 99.0 + few, "{phi}: {right} %, {ratio} %");
        assert!(phi > 0.5 || ratio >= least_of_two - few, "{phi}: {ratio} %");
        for (alarms, most) in [(of(unpaired.1), most_alarms), (of(paired.1), most_within)] {
            assert!(alarms <= most + few, "{phi}: {alarms} % false alarms");
        }
    }
    document("successive", &table);
}

/// As `compare --measure` does it by default: rounds go on to ±2 %, up to the last look, and less
/// than 3 % is the same.
#[test]
fn a_build_beside_itself_and_one_that_is_slower() {
    let rules = Rules { threshold: THRESHOLD, comparisons: 1 };
    let most = LOOKS.last().unwrap().0;
    let outcome = |course: Course, factor: f64, number: u64| {
        let law = Law::Scatter(0.02);
        let run = course.run(law, &[1.0, 1.0, factor], most, &mut Random::new(number));
        let mut run = Run { request: switchcost_model::Request::default(), ..run };
        let mut starts = std::mem::take(&mut run.invocations).into_iter().peekable();
        for (rounds, _) in LOOKS {
            run.invocations.extend(std::iter::from_fn(|| starts.next_if(|start| start.round < rounds)));
            let rows = rows(&run);
            if rounds == most || rows.iter().all(|row| row.summary.precise) {
                let compared = within(&rows[0], &rows[2], &noise(&rows[..2]), &rules).unwrap();
                return (rounds, compared.outcome);
            }
        }
        unreachable!("the last look ends it")
    };
    let mut table = String::from(
        "| correlation of neighbours | rounds | false alarms | a true 5 % is found | is called the same |\n|---|---|---|---|---|\n",
    );
    for phi in [0.0, 0.3, 0.5, 0.8, 0.95] {
        let course = Course { starts: phi, ..PLAIN };
        let runs = draws(RUNS / 2);
        let of = |factor| (0..runs).map(move |number| outcome(course, factor, number));
        let part = |outcomes: &[(u64, Outcome)], fits: fn(&Outcome) -> bool| {
            share(outcomes.iter().filter(|(_, outcome)| fits(outcome)).count(), runs as usize)
        };
        let (itself, slower): (Vec<_>, Vec<_>) = (of(1.0).collect(), of(1.05).collect());
        let alarms = part(&itself, |outcome| matches!(outcome, Outcome::Slower | Outcome::Faster));
        let [found, missed] = [
            part(&slower, |outcome| *outcome == Outcome::Slower),
            part(&slower, |outcome| matches!(outcome, Outcome::Same(_) | Outcome::Faster)),
        ];
        let rounds = itself.iter().map(|(rounds, _)| *rounds as f64).sum::<f64>() / runs as f64;
        let _ = writeln!(table, "| {phi} | {rounds:.0} | {alarms:.1} % | {found:.1} % | {missed:.1} % |");
        // Ten starts that follow one another so closely hardly show it.
        let most = if phi > 0.9 { 10.0 } else { 5.0 };
        assert!(alarms <= most + slack(most, runs), "{phi}: {alarms} % false alarms");
        assert!(missed <= most + slack(most, runs), "{phi}: {missed} % of slower builds are called the same");
        assert!(phi > 0.0 || found >= 95.0 - slack(95.0, runs), "{phi}: {found} % are found");
    }
    document("itself", &table);
}

/// What became of rows of one kind.
#[derive(Default)]
struct Kept {
    rows: usize,
    of_ten: usize,
    /// Rows with an interval, after ten rounds and at their end.
    given: (usize, usize),
    wider: f64,
    rounds: usize,
    held: usize,
}

/// A run of many rows, after ten rounds and to ±2 % as the scheduler makes it; a row that is narrow
/// enough has no part in later rounds. `counted`: the rows that are counted.
fn of_many(own: &[f64], machine: (f64, f64), counted: &Range<usize>, random: &mut Random, kept: &mut Kept) {
    let run = together(0.02, own, machine, LOOKS.last().unwrap().0, random);
    let all = run.starts();
    let first = |rounds: &[usize]| all.iter().zip(rounds).map(|(row, most)| row[..*most].to_vec()).collect::<Vec<_>>();
    let settle = |rounds: &[usize], target| settled(&run.variants, &first(rounds), &Speeds::new(), target, At::Median);
    let given = |row: &Summary| usize::from(row.figures.as_ref().unwrap().interval.is_some());
    let holds = |row: &Summary| {
        let interval = row.figures.as_ref().unwrap().interval;
        usize::from(interval.is_some_and(|interval| (interval.low..=interval.high).contains(&COST)))
    };
    for (row, _) in &settle(&vec![ROUNDS as usize; own.len()], None)[counted.clone()] {
        kept.rows += 1;
        kept.given.0 += given(row);
        kept.of_ten += holds(row);
        kept.wider += row.widened - 1.0;
    }
    let mut rounds = vec![0; own.len()];
    let mut done = vec![false; own.len()];
    let mut rows = Vec::new();
    for (look, _) in LOOKS {
        rounds.iter_mut().zip(&done).filter(|(_, done)| !**done).for_each(|(rounds, _)| *rounds = look as usize);
        rows = settle(&rounds, Some(0.02));
        done.iter_mut().zip(&rows).for_each(|(done, (row, _))| *done |= row.precise);
        if done.iter().all(|done| *done) {
            break;
        }
    }
    for index in counted.clone() {
        kept.rounds += rounds[index];
        kept.given.1 += given(&rows[index].0);
        kept.held += holds(&rows[index].0);
    }
}

/// What many rows know of the machine that they share, each of them uses; a row that wanders by
/// itself is not forgotten.
#[test]
fn rows_of_a_run_know_more_than_one() {
    const ROWS: usize = 25;
    let some = |count: usize| (0..ROWS).map(|row| if row < count { 0.5 } else { 0.0 }).collect::<Vec<_>>();
    let all = |phi| vec![phi; ROWS];
    let alone = (0.0, 0.0);
    // Runs; correlation of the rows by themselves; the machine's part and correlation; rows that
    // are counted; least and most that hold, in per cent. As many runs as make 4000 rows that know
    // nothing of one another; five times as many near a bound; rows that share the machine, and
    // single rows of many, are counted in fewer, for the time that it takes.
    type Line = (&'static str, u64, Vec<f64>, (f64, f64), Range<usize>, (f64, f64));
    let lines: [Line; 13] = [
        ("one row, 0", RUNS, vec![0.0], alone, 0..1, (93.0, 97.0)),
        ("one row, 0.5", RUNS, vec![0.5], alone, 0..1, (89.0, 97.0)),
        ("4 rows, 0.5", RUNS / 4, vec![0.5; 4], alone, 0..4, (93.0, 97.0)),
        ("25 rows, 0", RUNS / 5, all(0.0), alone, 0..ROWS, (93.0, 97.0)),
        ("25 rows, 0.3", RUNS / 25, all(0.3), alone, 0..ROWS, (93.0, 97.0)),
        ("25 rows, 0.5", RUNS / 25, all(0.5), alone, 0..ROWS, (93.0, 97.0)),
        ("25 rows, 0.8", RUNS / 25, all(0.8), alone, 0..ROWS, (93.0, 97.0)),
        ("25 rows, 0.95", RUNS / 25, all(0.95), alone, 0..ROWS, (93.0, 97.0)),
        (
            "25 rows, half of their scatter is the machine's, 0.5",
            RUNS / 10,
            all(0.0),
            (0.5, 0.5),
            0..ROWS,
            (93.0, 97.0),
        ),
        ("25 rows, nine tenths of it", RUNS / 10, all(0.0), (0.9, 0.5), 0..ROWS, (90.0, 97.0)),
        ("one of 25 rows by itself, 0.5", RUNS / 4, some(1), alone, 0..1, (87.0, 97.0)),
        ("12 of 25 rows by themselves, 0.5", RUNS / 12, some(12), alone, 0..12, (90.0, 97.0)),
        ("the 13 others, 0", RUNS / 13, some(12), alone, 12..ROWS, (93.0, 99.0)),
    ];
    let mut table = String::from(
        "| rows, correlation of neighbours | a range after ten rounds | interval of ten rounds | is wider by | to ±2 %: rounds | interval |\n|---|---|---|---|---|---|\n",
    );
    let mut wrong: Vec<String> = Vec::new();
    for (what, runs, own, machine, counted, (least, most)) in lines {
        let mut found = Kept::default();
        for number in 0..draws(runs) {
            of_many(&own, machine, &counted, &mut Random::new(number), &mut found);
        }
        let ranges = share(found.rows - found.given.0, found.rows);
        let (wider, rounds) = (found.wider / found.rows as f64, found.rounds as f64 / found.rows as f64);
        let (of_ten, held) = (share(found.of_ten, found.given.0), share(found.held, found.given.1));
        let wider = wider * 100.0;
        let _ =
            writeln!(table, "| {what} | {ranges:.1} % | {of_ten:.1} % | {wider:.0} % | {rounds:.0} | {held:.1} % |");
        // Of rows that share the machine each says little beside the others: runs count, not rows.
        let few = slack(least, draws(runs));
        // A row with a range gives no wrong interval.
        let off = |held: usize, given: usize| {
            100.0 - share(given - held, found.rows) < least - few || share(held, given) > most + few
        };
        if off(found.of_ten, found.given.0) || off(found.held, found.given.1) {
            wrong.push(format!("{what}: {of_ten:.1} %, {held:.1} %"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    document("together", &table);
}

/// Modes are found where there are some, and rarely where there are none.
#[test]
fn modes_are_found_and_not_invented() {
    const RUNS: u64 = 1000;
    let mut table = String::from("| starts | 10 starts | 20 starts | 40 starts |\n|---|---|---|---|\n");
    let none = [Law::Normal, Law::Outliers, Law::Scatter(0.06), Law::Tail(0.04), Law::Tail(0.5), Law::Drift(0.20)];
    let some = [Law::Mixed(0.3, 0.12), Law::Mixed(0.5, 0.12), Law::Mixed(0.3, 0.5), Law::Mixed(0.5, 10.0)];
    for (law, exist) in none.map(|law| (law, false)).into_iter().chain(some.map(|law| (law, true))) {
        let found = [10, 20, 40].map(|starts| {
            let modes = |number| !rows(&run(law, &[1.0], starts, &mut Random::new(number)))[0].summary.modes.is_empty();
            share((0..draws(RUNS)).filter(|number| modes(*number)).count(), draws(RUNS) as usize)
        });
        let _ = writeln!(table, "| {law} | {:.1} % | {:.1} % | {:.1} % |", found[0], found[1], found[2]);
        assert!(exist || found.iter().all(|share| *share <= 3.0 + slack(3.0, draws(RUNS))), "{law}: {found:?}");
        assert!(!exist || found[2] >= 90.0 - slack(90.0, draws(RUNS)), "{law}: {found:?}");
    }
    document("modes", &table);
}

/// The same of the batches within a start: by all of them where no ruler tells which of them a
/// neighbour slowed, by the undisturbed ones otherwise.
#[test]
fn modes_within_a_start_are_found_and_not_invented() {
    const RUNS: u64 = 1000;
    let course = |course: Course, what: &'static str| (Law::Normal, course, what);
    let kinds = |part: f64, by: f64| Course { kinds: (part, by), ..PLAIN };
    let none = [
        course(PLAIN, ""),
        (Law::Outliers, PLAIN, ""),
        (Law::Scatter(0.06), PLAIN, ""),
        (Law::Tail(0.04), PLAIN, ""),
        course(Course { warmup: 0.3, ..PLAIN }, ", begin 30 % higher"),
        course(Course { batches: 0.8, ..PLAIN }, ", each batch like the one before (0.8)"),
        (Law::Outliers, Course { batches: 0.95, ..PLAIN }, ", each batch like the one before (0.95)"),
        course(Course { slope: 0.05, ..PLAIN }, ", batches drift by 5 %"),
        course(Course { slope: 0.2, ..PLAIN }, ", batches drift by 20 %"),
    ];
    let some = [(0.5, 0.12), (0.3, 0.12), (0.2, 0.5), (0.5, 2.0)];
    let some = some.map(|(part, by)| (Law::Normal, kinds(part, by), (part, by)));
    let mut table = String::from(
        "| batches | 10 starts | 20 starts | 40 starts | 20 starts, a neighbour for 30 % of the time |\n|---|---|---|---|---|\n",
    );
    let mut line = |law: Law, course: Course, what: &str| {
        let found = [(10, None), (20, None), (40, None), (20, Some(0.3))].map(|(starts, neighbour)| {
            let within = |number: &u64| {
                let random = &mut Random::new(*number);
                let mut run = course.run(law, &[1.0], starts, random);
                if let Some(part) = neighbour {
                    disturb(&mut run, part, 1.35, true, random);
                }
                rows(&run)[0].summary.modes_within
            };
            share((0..draws(RUNS)).filter(within).count(), draws(RUNS) as usize)
        });
        let cells: String = found.iter().map(|share| format!(" {share:.1} % |")).collect();
        let _ = writeln!(table, "| {what} |{cells}");
        found
    };
    for (law, course, what) in none {
        let found = line(law, course, &format!("{law}{what}"));
        assert!(found.iter().all(|share| *share <= 1.0 + slack(1.0, draws(RUNS))), "{law}{what}: {found:?}");
    }
    for (law, course, (part, by)) in some {
        let what = format!("{:.0} % of batches {:.0} % above the others", part * 100.0, by * 100.0);
        let found = line(law, course, &what);
        assert!(found.iter().all(|share| *share >= 50.0 - slack(50.0, draws(RUNS))), "{what}: {found:?}");
    }
    document("within", &table);
}
