//! All pairs of one question, judged together at 95 %, and what bounds every word of it.

use super::machines::{clocks_differ, slowed_throughout};
use super::pairing::Place;
use super::ratio::{Comparison, Rules, between, within};
use super::why::Why;
use crate::analysis::Analysis;
use crate::noise::Noise;
use crate::row::{Of, Row};
use crate::rulers::{SLOWED, slowest};
use std::collections::BTreeSet;
use switchcost_model::{Difference, Run, differences};

/// What bounds every word of a comparison, and stands before it.
#[derive(Debug, Clone, PartialEq)]
pub enum Caution {
    /// The runs are of different hardware.
    Machines,
    /// They are of equal hardware, and something else that they have recorded differs.
    Setups,
    /// Somebody watched these runs: id, and who.
    Watched(Vec<(String, String)>),
    /// They were made by different versions.
    Versions,
    /// The clock of one was slower, by this logarithm (B's, if positive).
    Clock(f64),
    /// Too few starts in so many rows, or too few rounds that hold both.
    FewStarts {
        /// Rows that lack them.
        rows: usize,
        /// Starts that each side needs, or rounds.
        needed: usize,
        /// They are rounds.
        rounds: bool,
    },
}

/// What a reader must know of how rows were compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    /// This run holds no A/A pair, so that the default floor is assumed.
    NoFloor {
        /// Its id.
        run: String,
    },
    /// Run by run, how many times their best the rulers took beside the median batch.
    Speeds(Vec<(String, f64)>),
    /// Batches beside which the machine was slowed are left out.
    Undisturbed,
    /// All of so many intervals hold together.
    Together(usize),
    /// Rows of one run are compared as two sets of starts.
    AsSets,
    /// Rows of two runs are compared.
    TwoRuns,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdicts {
    /// One for each pair, in their order.
    pub comparisons: Vec<Comparison>,
    /// Indices of the runs that take part, each once, that of the first A first.
    pub runs: Vec<usize>,
    /// Every recorded fact in which runs that are compared differ, those of the hardware first.
    pub differences: Vec<Difference>,
    /// Runs that bear no verdict, since equal things differ in them: id and reason.
    pub unstable: Vec<(String, String)>,
    /// In the order of weight.
    pub cautions: Vec<Caution>,
    /// In the order of weight.
    pub remarks: Vec<Remark>,
}

/// A pair that cannot be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Incomparable {
    /// Labels of A and B.
    pub labels: (String, String),
    /// The reason.
    pub why: Why,
}

/// A pair, each by its run and row.
type Pair<'l, 'r> = (Place<'l, 'r>, Place<'l, 'r>);

/// Compares each pair, all of them together at 95 %.
///
/// # Errors
/// The first pair that cannot be compared.
pub fn verdicts(pairs: &[Pair<'_, '_>], runs: &[Analysis<'_>], threshold: f64) -> Result<Verdicts, Incomparable> {
    let rules = Rules { threshold, comparisons: pairs.len() };
    let each = pairs.iter().map(|(a, b)| {
        one(*a, *b, runs, &rules).map_err(|why| Incomparable { labels: (a.1.label.clone(), b.1.label.clone()), why })
    });
    let comparisons = each.collect::<Result<Vec<_>, _>>()?;
    let involved = involved(pairs);
    let unstable = involved.iter().filter_map(|&index| Some((&runs[index], runs[index].noise.unstable.clone()?)));
    let differences = differing(pairs, runs);
    Ok(Verdicts {
        unstable: unstable.map(|(analysis, reason)| (analysis.run.id.clone(), reason)).collect(),
        cautions: cautions(pairs, runs, &comparisons, &involved, &differences),
        remarks: remarks(pairs, runs, &comparisons, &involved),
        comparisons,
        differences,
        runs: involved,
    })
}

fn one(a: Place<'_, '_>, b: Place<'_, '_>, runs: &[Analysis<'_>], rules: &Rules) -> Result<Comparison, Why> {
    // Of counts every difference is one.
    let threshold = if a.1.quantity.exact { 0.0 } else { rules.threshold };
    let rules = &Rules { threshold, ..*rules };
    if a.0 == b.0 {
        // The A/A pair is not judged by the floor that it makes: no difference could ever exceed
        // that.
        let itself = a.1.variant.is_twin() || b.1.variant.is_twin();
        let unknown = Noise::default();
        return within(a.1, b.1, if itself { &unknown } else { &runs[a.0].noise }, rules);
    }
    let (first, second) = (&runs[a.0], &runs[b.0]);
    let clock = clocks_differ(first, second, &a.1.variant.probe);
    let compared = between(a.1, b.1, (&first.noise, &second.noise), clock, rules)?;
    Ok(compared.unless(slowed_throughout(first, second, &a.1.variant.probe)))
}

fn involved(pairs: &[Pair<'_, '_>]) -> Vec<usize> {
    let mut indices: Vec<usize> = Vec::new();
    for index in pairs.iter().flat_map(|(a, b)| [a.0, b.0]) {
        if !indices.contains(&index) {
            indices.push(index);
        }
    }
    indices
}

/// Of several pairs of runs each fact once.
fn differing(pairs: &[Pair<'_, '_>], runs: &[Analysis<'_>]) -> Vec<Difference> {
    let of_runs: BTreeSet<(usize, usize)> = pairs.iter().map(|(a, b)| (a.0, b.0)).filter(|(a, b)| a != b).collect();
    let mut all: Vec<Difference> = Vec::new();
    for (a, b) in of_runs {
        let new = differences(&runs[a].run.machine, &runs[b].run.machine).into_iter();
        let new: Vec<Difference> = new.filter(|one| all.iter().all(|known| known.fact != one.fact)).collect();
        all.extend(new);
    }
    all.sort_by_key(|difference| !difference.hardware);
    all
}

fn cautions(
    pairs: &[Pair<'_, '_>],
    runs: &[Analysis<'_>],
    comparisons: &[Comparison],
    involved: &[usize],
    differences: &[Difference],
) -> Vec<Caution> {
    let differ = |of: &dyn Fn(&Run) -> String| pairs.iter().any(|(a, b)| of(runs[a.0].run) != of(runs[b.0].run));
    let mut cautions = Vec::new();
    if differences.iter().any(|difference| difference.hardware) {
        cautions.push(Caution::Machines);
    } else if !differences.is_empty() {
        cautions.push(Caution::Setups);
    }
    let watched = involved.iter().map(|&index| (runs[index].run.id.clone(), runs[index].run.machine.watchers()));
    let watched: Vec<(String, String)> = watched.filter(|(_, who)| !who.is_empty()).collect();
    cautions.extend((!watched.is_empty()).then_some(Caution::Watched(watched)));
    if differ(&|run| format!("{} {}", run.tool_version, run.method_version)) {
        cautions.push(Caution::Versions);
    }
    let clocks = pairs.iter().filter_map(|(a, b)| clocks_differ(&runs[a.0], &runs[b.0], &a.1.variant.probe));
    cautions.extend(clocks.max_by(|a, b| a.abs().total_cmp(&b.abs())).map(Caution::Clock));
    let lacking = comparisons.iter().filter_map(|one| Some((one.lacks_starts()?, one.paired)));
    let lacking: Vec<(usize, bool)> = lacking.collect();
    let most = lacking.iter().max();
    cautions.extend(most.map(|&(needed, rounds)| Caution::FewStarts { rows: lacking.len(), needed, rounds }));
    cautions
}

fn remarks(
    pairs: &[Pair<'_, '_>],
    runs: &[Analysis<'_>],
    comparisons: &[Comparison],
    involved: &[usize],
) -> Vec<Remark> {
    let measured = pairs.iter().any(|(a, _)| !a.1.quantity.exact);
    let mut remarks: Vec<Remark> = involved
        .iter()
        .filter(|_| measured)
        .filter(|&&index| runs[index].noise.floor().is_none())
        .map(|&index| Remark::NoFloor { run: runs[index].run.id.clone() })
        .collect();
    remarks.extend(speeds(runs, involved));
    let moved = |row: &Row<'_>| row.basis() == Of::Undisturbed && row.slowed();
    if pairs.iter().any(|(a, b)| moved(a.1) || moved(b.1)) {
        remarks.push(Remark::Undisturbed);
    }
    if !measured {
        return remarks;
    }
    if pairs.len() > 1 {
        remarks.push(Remark::Together(pairs.len()));
    }
    let as_sets = |((a, b), row): (&Pair<'_, '_>, &Comparison)| a.0 == b.0 && !row.paired && row.interval.is_some();
    if pairs.iter().zip(comparisons).any(as_sets) {
        remarks.push(Remark::AsSets);
    }
    if pairs.iter().any(|(a, b)| a.0 != b.0) {
        remarks.push(Remark::TwoRuns);
    }
    remarks
}

/// How fast the machine was in each of several runs, where it was not as fast in one as in another.
fn speeds(runs: &[Analysis<'_>], involved: &[usize]) -> Option<Remark> {
    let slow: Vec<(String, f64)> = involved
        .iter()
        .filter_map(|&index| Some((runs[index].run.id.clone(), slowest(&runs[index].speeds)?.1)))
        .collect();
    let worst = slow.iter().map(|slow| slow.1).max_by(f64::total_cmp)?;
    (involved.len() > 1 && worst > SLOWED).then_some(Remark::Speeds(slow))
}
