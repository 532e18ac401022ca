//! Which rows are compared with which, and what a reader must know of the verdicts. Shared by the command `compare` and the page.

use crate::compare::{Compared, ComparedRow, ComparedRun, ComparedSide};
use crate::text::{listed, machine_words, moment};
use std::collections::BTreeMap;
use switchcost_analysis::{
    Analysis, Noise, Of, Row, Rules, SLOWED, between, clocks_differ, slowed_throughout, slower_clock, slowest, usable,
    within,
};
use switchcost_model::{Run, Variant, hardware_key};

/// Smallest difference that matters unless the user says otherwise.
pub const THRESHOLD: f64 = 0.03;

/// A row and the index of its run.
pub type Place<'l, 'r> = (usize, &'l Row<'r>);

/// What two runs have in common.
pub struct Common<'l, 'r> {
    /// Rows of equal variants.
    pub pairs: Vec<(&'l Row<'r>, &'l Row<'r>)>,
    /// Labels that only the first has.
    pub only_a: Vec<String>,
    /// Labels that only the second has.
    pub only_b: Vec<String>,
}

/// Rows of equal variants: a parameter that one run does not know has its default there, and versions of probes may differ (gcc-12 and gcc-13).
#[must_use]
pub fn common<'l, 'r>(a: &[&'l Row<'r>], b: &[&'l Row<'r>]) -> Common<'l, 'r> {
    let exact: BTreeMap<String, &'l Row<'r>> = b.iter().map(|&line| (line.full.key(), line)).collect();
    let loose: BTreeMap<String, &'l Row<'r>> = b.iter().map(|&line| (loose_key(&line.full), line)).collect();
    let partner = |a: &Row<'_>| exact.get(&a.full.key()).or_else(|| loose.get(&loose_key(&a.full))).copied();
    let mut found = Common { pairs: Vec::new(), only_a: Vec::new(), only_b: Vec::new() };
    for &a in a {
        match partner(a) {
            Some(b) => found.pairs.push((a, b)),
            None => found.only_a.push(a.label.clone()),
        }
    }
    let met: std::collections::BTreeSet<usize> = found.pairs.iter().map(|(_, b)| b.index).collect();
    found.only_b = b.iter().filter(|line| !met.contains(&line.index)).map(|line| line.label.clone()).collect();
    found
}

/// Key of a variant without the version in the probe's id.
fn loose_key(variant: &Variant) -> String {
    Variant { probe: probe_without_version(&variant.probe).to_owned(), ..variant.clone() }.key()
}

/// A probe's id without the version of its compiler: `native-gcc` of `native-gcc-12`.
#[must_use]
pub fn probe_without_version(id: &str) -> &str {
    let version = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    id.rsplit_once('-').filter(|(_, tail)| version(tail)).map_or(id, |(name, _)| name)
}

/// Whether a ratio of these rows means anything.
///
/// # Errors
/// A clause that says why not.
pub fn comparable(a: &Row<'_>, b: &Row<'_>) -> Result<(), String> {
    let (first, second) = (a.variant.experiment, b.variant.experiment);
    if first != second {
        return Err(format!("one measures experiment {first}, the other {second}"));
    }
    if a.unit != b.unit {
        return Err(format!("one is measured per {}, the other per {}", a.unit, b.unit));
    }
    for (side, row) in [("A", a), ("B", b)] {
        usable(row).map_err(|reason| format!("{side} gives no verdict: {reason}"))?;
    }
    Ok(())
}

impl ComparedRun {
    fn new(run: &Run) -> Self {
        Self { id: run.id.clone(), started: moment(run.started_unix_ns), machine: machine_words(&run.machine) }
    }
}

impl ComparedSide {
    /// A row of a run as a side, with the figure that it is compared by.
    #[must_use]
    pub fn new(run: &Run, row: &Row<'_>, of: Of) -> Self {
        let figure = row.figure(of);
        let modes: Vec<(f64, f64)> =
            figure.iter().flat_map(|figure| figure.2).map(|mode| (mode.value, mode.weight)).collect();
        let single = figure.filter(|_| modes.is_empty());
        Self {
            run: run.id.clone(),
            label: row.label.clone(),
            experiment: row.variant.experiment,
            median: single.map(|figure| figure.0),
            interval: single.and_then(|figure| figure.1).map(|interval| (interval.low, interval.high)),
            modes,
            unit: row.unit.clone(),
            quantity: row.quantity,
        }
    }
}

/// Compares each pair, all of them together at 95 %, and adds what a reader must know.
///
/// # Errors
/// One sentence on the first pair that cannot be compared.
pub fn judge(
    pairs: &[(Place<'_, '_>, Place<'_, '_>)],
    runs: &[Analysis<'_>],
    force: bool,
    compared: &mut Compared,
) -> Result<(), String> {
    let rules = Rules { threshold: compared.threshold, comparisons: pairs.len() };
    let unknown = Noise::default();
    for (a, b) in pairs {
        let comparison = if a.0 == b.0 {
            // The A/A pair is not judged by the floor that it makes: no difference could ever exceed that.
            let itself = a.1.variant.is_twin() || b.1.variant.is_twin();
            within(a.1, b.1, if itself { &unknown } else { &runs[a.0].noise }, &rules)
        } else {
            let slowed = slowed_throughout(&runs[a.0], &runs[b.0], &a.1.variant.probe);
            let clock = clocks_differ(&runs[a.0], &runs[b.0], &a.1.variant.probe);
            between(a.1, b.1, (&runs[a.0].noise, &runs[b.0].noise), clock, &rules)
                .map(|compared| compared.unless(slowed))
        }
        .map_err(|reason| format!("`{}` and `{}` cannot be compared: {reason}", a.1.label, b.1.label))?;
        let side = |place: &Place<'_, '_>| ComparedSide::new(runs[place.0].run, place.1, comparison.of);
        compared.rows.push(ComparedRow { a: side(a), b: side(b), asked: None, comparison });
    }
    compared.runs = involved(pairs).into_iter().map(|index| ComparedRun::new(runs[index].run)).collect();
    compared.cautions = cautions(pairs, runs, &compared.rows);
    judge_runs(pairs, runs, force, compared);
    notes(pairs, runs, compared);
    Ok(())
}

/// Why figures of two runs may differ for equal machines: their methods do.
#[must_use]
pub fn methods_differ(a: &Run, b: &Run) -> Option<String> {
    (a.method_version != b.method_version).then(|| {
        format!(
            "run {} was made by version {} of the method and run {} by version {}, whose figures may differ for equal machines",
            a.id, a.method_version, b.id, b.method_version
        )
    })
}

/// Sentences, in the order of weight.
fn cautions(pairs: &[(Place<'_, '_>, Place<'_, '_>)], runs: &[Analysis<'_>], rows: &[ComparedRow]) -> Vec<String> {
    let differ = |of: &dyn Fn(&Run) -> String| pairs.iter().any(|(a, b)| of(runs[a.0].run) != of(runs[b.0].run));
    let mut cautions = Vec::new();
    if differ(&|run| hardware_key(&run.machine.stable)) {
        cautions.push("The runs are of different machines, and each ratio is that of the machines as well.".to_owned());
    } else if differ(&|run| run.machine.key()) {
        cautions.push(
            "The runs are of one machine with two kernels or set-ups, and each ratio is that of these as well."
                .to_owned(),
        );
    }
    if differ(&|run| format!("{} {}", run.tool_version, run.method_version)) {
        cautions.push("The runs were made by different versions of switchcost.".to_owned());
    }
    let clocks = pairs.iter().filter_map(|(a, b)| clocks_differ(&runs[a.0], &runs[b.0], &a.1.variant.probe));
    if let Some(log) = clocks.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
        cautions.push(format!(
            "{} at its best: of rows that may follow it the interval holds the difference with the clock and without.",
            slower_clock(log)
        ));
    }
    let lacking: Vec<usize> = rows.iter().filter_map(|row| row.comparison.lacks_starts()).collect();
    if let Some(needed) = lacking.iter().max() {
        let of = if lacking.len() == rows.len() {
            String::new()
        } else {
            format!(" in {} of {} rows", lacking.len(), rows.len())
        };
        cautions.push(format!("Too few starts for a verdict{of}: it takes {needed} on each side."));
    }
    cautions
}

/// Indices of the runs that take part, each once, that of the first A first.
fn involved(pairs: &[(Place<'_, '_>, Place<'_, '_>)]) -> Vec<usize> {
    let mut indices: Vec<usize> = Vec::new();
    for index in pairs.iter().flat_map(|(a, b)| [a.0, b.0]) {
        if !indices.contains(&index) {
            indices.push(index);
        }
    }
    indices
}

/// Runs in which equal things differ bear no verdict.
fn judge_runs(pairs: &[(Place<'_, '_>, Place<'_, '_>)], runs: &[Analysis<'_>], force: bool, compared: &mut Compared) {
    for index in involved(pairs) {
        let id = &runs[index].run.id;
        if let Some(reason) = &runs[index].noise.unstable {
            let sentence = format!("run {id} is unstable: {reason}");
            if force { compared.notes.push(format!("{sentence}.")) } else { compared.refused.push(sentence) }
        }
        if runs[index].noise.floor().is_none() {
            compared.notes.push(format!(
                "the noise floor of run {id} is unknown, since it holds no A/A pair of 6 rounds; {:.0} % is assumed.",
                switchcost_analysis::DEFAULT_FLOOR * 100.0
            ));
        }
    }
}

/// How fast the machine was in each of several runs, where it was not as fast in one as in another.
fn speeds(pairs: &[(Place<'_, '_>, Place<'_, '_>)], runs: &[Analysis<'_>]) -> Option<String> {
    let involved = involved(pairs);
    let slow: Vec<(usize, f64)> =
        involved.iter().filter_map(|&index| Some((index, slowest(&runs[index].speeds)?.1))).collect();
    let worst = slow.iter().map(|slow| slow.1).max_by(f64::total_cmp)?;
    (involved.len() > 1 && worst > SLOWED).then(|| {
        let said: Vec<String> =
            slow.iter().map(|(index, times)| format!("×{times:.2} in run {}", runs[*index].run.id)).collect();
        format!(
            "The machine was not equally fast: beside the median batch its rulers took so many times their best of the run: {}.",
            said.join(", ")
        )
    })
}

fn notes(pairs: &[(Place<'_, '_>, Place<'_, '_>)], runs: &[Analysis<'_>], compared: &mut Compared) {
    compared.notes.extend(speeds(pairs, runs));
    let moved = |row: &Row<'_>| {
        row.basis() == Of::Undisturbed
            && row.median().zip(row.undisturbed.as_ref()).is_some_and(|(own, other)| other.matters(own))
    };
    if pairs.iter().any(|(a, b)| moved(a.1) || moved(b.1)) {
        compared.notes.push("The machine was slowed beside some batches; compared are the others.".into());
    }
    if pairs.len() > 1 {
        compared.notes.push(format!("Intervals: together all {} hold in 95 % of cases.", pairs.len()));
    }
    if compared
        .rows
        .iter()
        .any(|row| row.a.run == row.b.run && !row.comparison.paired && row.comparison.interval.is_some())
    {
        compared.notes.push(
            "Too few rounds to compare so many rows round by round: compared as two sets of starts, whose interval is wider where costs drift.".into(),
        );
    }
    if pairs.iter().any(|(a, b)| a.0 != b.0) {
        compared.notes.push(
            "Two runs: the interval holds chance within each and what such rows usually scatter by between runs, not what changed between them; for certainty measure both sides in one run.".into(),
        );
    }
    if pairs.iter().any(|(a, b)| runs[a.0].run.machine.key() != runs[b.0].run.machine.key()) {
        compared.notes.push(
            "The runs are of different machines or set-ups: the ratio is that of mechanism and machine together."
                .into(),
        );
    }
    let unobserved = |row: &Row<'_>| row.verdict == switchcost_model::Verdict::Unobservable;
    let mut unproven: Vec<String> = pairs
        .iter()
        .flat_map(|(a, b)| [a.1, b.1])
        .filter(|line| unobserved(line))
        .map(|line| line.label.clone())
        .collect();
    unproven.sort();
    unproven.dedup();
    if !unproven.is_empty() {
        compared.notes.push(format!(
            "The switches of {} could not be observed; their figures rest on the probe's word.",
            listed(unproven)
        ));
    }
}
